#include "apps/config/scores.h"

#include <algorithm>

#include "apps/config/expression.h"
#include "apps/config/foreign_names.h"
#include "apps/config/layer_calls.h"
#include "apps/config/layer_types.h"
#include "apps/config/schema.h"

namespace troupe::config {
namespace {

LayerType score_type(std::string_view name, Output (*score)(const Scope&, Output, Output)) {
  LayerType type{std::string(name), 2, 2, {}, {}, {}};
  type.add = [score](const nn::Network& network, const Outputs& inputs, const Given&) {
    return score(network.scope(), inputs[0], inputs[1]);
  };
  return type;
}

template <class Options>
LayerType score_type(std::string_view name, std::vector<Row<Options>> rows,
                     Output (*score)(const Scope&, Output, Output, const Options&)) {
  LayerType type =
      layer_type<Options>(name, std::move(rows),
                          [score](const nn::Network& network, const Outputs& inputs, const Options& options) {
                            return score(network.scope(), inputs[0], inputs[1], options);
                          });
  type.min_inputs = type.max_inputs = 2;
  return type;
}

constexpr std::string_view class_weights_option = "class_weights";

template <class Options>
Row<Options> class_weights() {
  return {class_weights_option,
          &Options::class_weights,
          "how much a sample of each class counts; default: all alike",
          {.range = {.low = 0}}};
}

template <class Options>
Row<Options> label_smoothing() {
  return {"label_smoothing",
          &Options::label_smoothing,
          "share of the probability that is spread over all classes; default: 0",
          {.range = {.low = 0, .high = 1, .below = true}}};
}

template <class Options>
Row<Options> reduction() {
  return {"reduction",
          &Options::reduction,
          "mean or sum of the losses of the samples, or none: the losses themselves; default: mean",
          {.choices = "mean|sum|none"}};
}

/// Returns whether a training can minimize a score, because it has a gradient.
bool is_loss(std::string_view name) {
  return name != "accuracy" && name != "top_k_accuracy" &&
         std::ranges::find(nn::set_metrics(), name, &nn::SetMetric::name) == nn::set_metrics().end();
}

std::vector<std::string_view> names_of(const std::vector<LayerType>& types) {
  std::vector<std::string_view> names;
  for (const LayerType& type : types) names.push_back(type.name);
  return names;
}

/// Returns which of `names` to write instead of `name`, or else the list of `scores`.
std::string advice_on(const std::string& name, const std::vector<std::string_view>& names,
                      const std::vector<std::string_view>& scores) {
  if (std::string advice = advice_on_choice(name, names); advice.starts_with("; write \"")) return advice;
  if (const auto near = nearest(name, names); !near.empty()) return "; write \"" + std::string(near) + '"';
  std::string list = "; known: ";
  for (const auto known : scores) list += (list.back() == ' ' ? "" : ", ") + std::string(known);
  return list;
}

constexpr Range strictly_between(double low, double high) {
  return {.low = low, .high = high, .above = true, .below = true};
}

}  // namespace

std::vector<LayerType> score_types() {
  std::vector<LayerType> types = {
      score_type("accuracy", nn::accuracy),
      score_type<nn::BinaryCrossEntropy>(
          "binary_cross_entropy",
          {label_smoothing<nn::BinaryCrossEntropy>(), class_weights<nn::BinaryCrossEntropy>(),
           reduction<nn::BinaryCrossEntropy>()},
          nn::binary_cross_entropy),
      score_type<nn::Loss>("cosine_distance", {reduction<nn::Loss>()}, nn::cosine_distance),
      score_type<nn::Focal>("focal_loss",
                            {{"gamma",
                              &nn::Focal::gamma,
                              "how much less certain samples count; default: 2",
                              {.range = {.low = 0}}},
                             class_weights<nn::Focal>(),
                             reduction<nn::Focal>()},
                            nn::focal_loss),
      score_type<nn::Loss>("hinge", {reduction<nn::Loss>()}, nn::hinge),
      score_type<nn::Huber>("huber",
                            {{"delta",
                              &nn::Huber::delta,
                              "the error from which on it counts linearly; default: 1",
                              {.range = {.low = 0, .above = true}}},
                             reduction<nn::Huber>()},
                            nn::huber),
      score_type<nn::Loss>("kl_divergence", {reduction<nn::Loss>()}, nn::kl_divergence),
      score_type<nn::Loss>("log_cosh", {reduction<nn::Loss>()}, nn::log_cosh),
      score_type<nn::Loss>("mean_absolute_error", {reduction<nn::Loss>()}, nn::mean_absolute_error),
      score_type<nn::Loss>("mean_absolute_percentage_error", {reduction<nn::Loss>()},
                           nn::mean_absolute_percentage_error),
      score_type<nn::Loss>("mean_squared_error", {reduction<nn::Loss>()}, nn::mean_squared_error),
      score_type<nn::Loss>("mean_squared_log_error", {reduction<nn::Loss>()}, nn::mean_squared_log_error),
      score_type<nn::Loss>("poisson_loss", {reduction<nn::Loss>()}, nn::poisson_loss),
      score_type<nn::Quantile>("quantile_loss",
                               {{"quantile",
                                 &nn::Quantile::quantile,
                                 "which is to be predicted; default: 0.5",
                                 {.range = strictly_between(0, 1)}},
                                reduction<nn::Quantile>()},
                               nn::quantile_loss),
      score_type<nn::SoftmaxCrossEntropy>(
          "softmax_cross_entropy",
          {label_smoothing<nn::SoftmaxCrossEntropy>(), class_weights<nn::SoftmaxCrossEntropy>(),
           reduction<nn::SoftmaxCrossEntropy>()},
          nn::softmax_cross_entropy),
      score_type<nn::Loss>("squared_hinge", {reduction<nn::Loss>()}, nn::squared_hinge),
      score_type<nn::TopK>(
          "top_k_accuracy",
          {{"k", &nn::TopK::k, "number of likely classes; default: 5", {.range = {.low = 1}}}},
          nn::top_k_accuracy)};
  for (const nn::SetMetric& metric : nn::set_metrics())
    types.push_back(score_type(metric.name, metric.means));
  return types;
}

void expand_metric_names(Table& root) {
  Value* const metrics = find(root, "train", "metrics");
  const List* const names = metrics ? metrics->get_if<List>() : nullptr;
  if (!names || !std::ranges::all_of(*names, [](const Value& name) {
        return name.get_if<std::string>() && is_identifier(*name.get_if<std::string>());
      }))
    return;
  Table table;
  for (const Value& name : *names) table.push_back({*name.get_if<std::string>(), name.place, name});
  metrics->data = std::move(table);
}

std::string class_weights_argument(const Train& train) {
  std::string numbers;
  for (const double weight : train.class_weights)
    numbers += (numbers.empty() ? "" : ", ") + to_toml(Value{weight, {}});
  return numbers.empty() ? "" : std::string(class_weights_option) + "=[" + numbers + ']';
}

std::string mistake_in_class_weights(const Train& train) {
  std::string losses;
  for (const LayerType& type : score_types()) {
    const auto has_weights = [](const std::string& path) { return path.ends_with(class_weights_option); };
    if (std::ranges::none_of(type.paths, has_weights)) continue;
    if (type.name == train.loss.text) return {};
    losses += (losses.empty() ? "" : ", ") + type.name;
  }
  return "needs a loss by its name, one of " + losses +
         "; in an expression, the loss takes the argument class_weights=[...]";
}

Definition with_model(Definition score, const Symbols& symbols, const std::string& more,
                      Comparison comparison) {
  Text& text = score.expression;
  const auto types = score_types();
  if (symbols.values.contains(text.text) ||
      std::ranges::find(types, text.text, &LayerType::name) == types.end())
    return score;
  for (const char* const result : {"logits", "output"}) {
    if (!symbols.values.contains(result)) continue;
    const auto compared = [&](const std::string& value) {
      return comparison == Comparison::EachLabel ? "reshape(" + value + ", [-1])" : value;
    };
    text.text = std::string(layer_prefix) + text.text + '(' + compared(result) + ", " + compared("label") +
                (more.empty() ? "" : ", " + more) + ')';
    text.generated = true;
    break;
  }
  return score;
}

Comparison comparison_of(const Definition& metric, const Definition& loss, const Scope& scope,
                         const Symbols& symbols) {
  constexpr std::string_view of_classes[] = {"accuracy", "auc", "f1", "precision", "recall"};
  if (loss.expression.text != "binary_cross_entropy" ||
      std::ranges::find(of_classes, metric.expression.text) == std::end(of_classes))
    return Comparison::OfSamples;
  for (const char* const result : {"logits", "output"}) {
    const auto found = symbols.values.find(result);
    if (found == symbols.values.end()) continue;
    const Output* const output = found->second ? std::get_if<Output>(&found->second->value()) : nullptr;
    const bool has_several = output && scope.shape(*output).has_rank(2) && scope.shape(*output)[1] != 1;
    return has_several ? Comparison::EachLabel : Comparison::OfSamples;
  }
  return Comparison::OfSamples;
}

bool lacks_result(const Definition& score, const Symbols& symbols) {
  const std::string& name = score.expression.text;
  const auto types = score_types();
  const auto has = [&](const char* result) { return symbols.values.contains(result); };
  return symbols.complete && !symbols.values.contains(name) && !has("logits") && !has("output") &&
         std::ranges::find(types, name, &LayerType::name) != types.end();
}

bool is_unknown_name(const Definition& metric, const Symbols& symbols) {
  const std::string& name = metric.expression.text;
  const auto types = score_types();
  return symbols.complete && is_identifier(name) && !symbols.values.contains(name) &&
         std::ranges::find(types, name, &LayerType::name) == types.end();
}

std::string advice_on_metric(const std::string& name) {
  const auto types = score_types();
  const auto names = names_of(types);
  return advice_on(name, names, names);
}

std::string advice_on_loss(const std::string& name, const Symbols& symbols) {
  const auto types = score_types();
  std::vector<std::string_view> losses = names_of(types);
  std::erase_if(losses, [](std::string_view score) { return !is_loss(score); });
  auto names = losses;
  for (const auto& [symbol, value] : symbols.values) names.push_back(symbol);
  return advice_on(name, names, losses);
}

const nn::SetMetric* set_metric_of(const Definition& metric) {
  const auto parsed = parse_expression(metric.expression.text);
  const auto* const expression = std::get_if<Expression>(&parsed);
  if (!expression) return nullptr;
  std::string_view name = expression->name;
  if (name.starts_with(layer_prefix)) name.remove_prefix(layer_prefix.size());
  const auto found = std::ranges::find(nn::set_metrics(), name, &nn::SetMetric::name);
  return found == nn::set_metrics().end() ? nullptr : &*found;
}

}  // namespace troupe::config
