#include "apps/runs/model_warnings.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "apps/config/diagnostics.h"
#include "apps/config/reader.h"
#include "apps/runs/run_model.h"
#include "graph/build/needed_part.h"

namespace troupe::runs {
namespace {

constexpr std::array<std::string_view, 12> elementwise = {
    "Add", "AddV2",    "Div", "Equal",   "Maximum",           "Minimum",
    "Mul", "NotEqual", "Pow", "RealDiv", "SquaredDifference", "Sub"};

bool is_vector_of_samples(const PartialShape& shape) { return shape.has_rank(1) && shape[0] == unknown_dim; }
bool is_column_of_samples(const PartialShape& shape) {
  return shape.has_rank(2) && shape[0] == unknown_dim && shape[1] == 1;
}

std::vector<Output> scores_of(const config::BuiltModel& model) {
  std::vector<Output> scores = {*model.loss};
  for (const auto& [name, metric] : model.metrics) scores.push_back(metric);
  return scores;
}

/// Returns the definition in whose expression a node stands.
std::string definition_of(const Node& node) { return node.name.substr(0, node.name.find('/')); }

/// Returns a definition or a layer, or else the loss, with its place in the run file: "run.toml:3:4: 'hidden'".
std::string placed(const config::RunConfig& config, const std::string& name) {
  const auto named = [&](const auto& one) { return one.name == name; };
  const auto& [graph, layers] = std::tie(config.model.graph, config.model.layers);
  config::SourceLocation place = config.train.loss.place;
  if (const auto found = std::ranges::find_if(graph, named); found != graph.end())
    place = found->expression.place;
  else if (const auto layer = std::ranges::find_if(layers, named); layer != layers.end())
    place = layer->place;
  else if (name != "loss")
    return '\'' + name + '\'';
  return config::Diagnostics(*config.document).where(place) + ": '" + name + '\'';
}

/// Returns the node that has computed the values of an edge, behind ops that only arrange or convert them.
const Node& origin_of(const Graph& graph, Output edge) {
  constexpr std::array<std::string_view, 7> arranging = {"Cast",    "ConcatV2", "ExpandDims", "Identity",
                                                         "Reshape", "Pack",     "Squeeze"};
  const Node* node = &graph.node(edge.node);
  while (std::ranges::find(arranging, node->type()) != arranging.end() && !node->inputs.empty()) {
    const bool joins = node->type() == "Pack";  // the logits of two classes: zeros, and those of class 1
    node = &graph.node(node->inputs[joins ? node->inputs.size() - 1 : 0].node);
  }
  return *node;
}

constexpr std::string_view sparse_loss = "SparseSoftmaxCrossEntropyWithLogits";

/// Returns the nodes that compute the softmax cross-entropy of the loss.
std::vector<const Node*> losses_of_classes(const Graph& graph, const config::BuiltModel& model) {
  std::vector<const Node*> losses;
  const std::vector<bool> needed = nodes_needed(graph, {*model.loss});
  for (const Node& node : graph.nodes())
    if (needed[node.id] && (node.type() == sparse_loss || node.type() == "SoftmaxCrossEntropyWithLogits"))
      losses.push_back(&node);
  return losses;
}

/// What is known of the classes of a label.
struct Classes {
  int64_t count = 0;  ///< 0: nothing
  std::string text;   ///< "3 classes ("a", "b", "c")"
  bool are_named = false;
};

Classes classes_of(const config::RunConfig& config, const std::string& label, const data::Dataset& columns) {
  const std::vector<std::string> names = class_names(config);
  if (!names.empty() && names.front() != "auto") {
    constexpr size_t shown = 5;
    std::string list;
    for (size_t i = 0; i < std::min(names.size(), shown); ++i)
      list += (i == 0 ? "\"" : ", \"") + names[i] + '"';
    return {static_cast<int64_t>(names.size()),
            std::to_string(names.size()) + " classes (" + list + (names.size() > shown ? ", ...)" : ")"),
            true};
  }
  const Tensor* const values = columns.find(label);
  if (!values || values->dtype() != DType::Int32 || values->elements() == 0) return {};
  const int32_t most = std::ranges::max(values->as<int32_t>());
  const bool is_last = config::Reader(&config.document->root()).table("data").string("label") == "last";
  return {int64_t{most} + 1,
          "the value " + std::to_string(most) +
              (config.data.format == "csv" && is_last
                   ? "; it is the last column, because data.label names no other"
                   : ""),
          false};
}

/// Fails with DataLoss if a label that has the numbers of classes is negative in a sample.
Status check_numbers_of_classes(const std::string& label, const data::Dataset& columns) {
  const Tensor* const values = columns.find(label);
  if (!values || values->dtype() != DType::Int32 || values->elements() == 0) return {};
  const int32_t least = std::ranges::min(values->as<int32_t>());
  if (least >= 0) return {};
  return data_loss(
      "'" + label + "' has the value " + std::to_string(least) +
      ", but the loss takes the numbers of classes, from 0 on; data.label_names = \"auto\" takes "
      "labels as words");
}

/// Returns whether a column of the samples is a label.
bool is_label(const config::RunConfig& config, const std::string& column) {
  return std::ranges::any_of(data::all_inputs(config.data), [&](const data::Input& input) {
    return input.name == column && input.from == data::label_column;
  });
}

/// Returns whether a loss of classes compares a known number of them with a label as the files have it.
bool compares_label(const Graph& graph, const config::RunConfig& config, const Node& loss) {
  const PartialShape& logits = graph.shape(loss.inputs[0]);
  return loss.type() == sparse_loss && logits.has_rank(2) && logits[1] != unknown_dim &&
         is_label(config, origin_of(graph, loss.inputs[1]).name);
}

/// Returns where the value of a key in [train] stands, as "run.toml:3:4: ".
std::string place_in_train(const config::RunConfig& config, const std::string& table,
                           const std::string& key) {
  const config::Reader train = config::Reader(&config.document->root()).table("train");
  const config::SourceLocation place = table.empty() ? train.place(key) : train.table(table).place(key);
  return config::Diagnostics(*config.document).where(place) + ": ";
}

constexpr std::array<std::string_view, 6> scores_of_classes = {"accuracy",  "auc",    "f1",
                                                               "precision", "recall", "top_k_accuracy"};
constexpr std::array<std::string_view, 8> losses_of_numbers = {"huber",
                                                               "log_cosh",
                                                               "mean_absolute_error",
                                                               "mean_absolute_percentage_error",
                                                               "mean_squared_error",
                                                               "mean_squared_log_error",
                                                               "poisson_loss",
                                                               "quantile_loss"};

template <size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns whether higher values of a score are better; nothing if that is not known.
std::optional<bool> is_better_if_higher(const config::Train& train, std::string_view metric) {
  const std::string_view name = metric.substr(metric.find('/') + 1);
  std::string_view score = name == "loss" ? std::string_view(train.loss.text) : name;
  for (const config::Definition& one : train.metrics)
    if (one.name == name) score = one.expression.text;
  if (contains(scores_of_classes, score) || score == "r2") return true;
  const bool is_error = contains(losses_of_numbers, score) || score == "root_mean_squared_error" ||
                        score.ends_with("cross_entropy") || name == "loss";
  return is_error ? std::optional(false) : std::nullopt;
}

void add_warning_of_monitor(const config::RunConfig& config, const std::string& table,
                            const config::Monitor& monitor, std::vector<std::string>& warnings) {
  const auto higher = is_better_if_higher(config.train, monitor.metric);
  if (!higher || *higher == monitor.higher_is_better) return;
  const auto mode = [](bool is_higher) { return std::string(is_higher ? "\"max\"" : "\"min\""); };
  warnings.push_back(place_in_train(config, table, "mode") + "train." + table + ".mode: " + mode(!*higher) +
                     " takes the worst values of '" + monitor.metric + "' for the best ones; write " +
                     mode(*higher));
}

}  // namespace

std::vector<std::string> warnings_of_broadcasts(const Graph& graph, const config::RunConfig& config,
                                                const config::BuiltModel& model) {
  std::vector<std::string> warnings;
  const std::vector<bool> needed = nodes_needed(graph, scores_of(model));
  for (const Node& node : graph.nodes()) {
    if (!needed[node.id] || std::ranges::find(elementwise, node.type()) == elementwise.end()) continue;
    const PartialShape &left = graph.shape(node.inputs[0]), &right = graph.shape(node.inputs[1]);
    const bool pairs_up = (is_vector_of_samples(left) && is_column_of_samples(right)) ||
                          (is_vector_of_samples(right) && is_column_of_samples(left));
    if (pairs_up)
      warnings.push_back(
          placed(config, definition_of(node)) + " combines " + left.text() + " with " + right.text() +
          " element by element (" + node.type() +
          "): the result has an element for each pair of samples of a batch; squeeze() or expand_dims() "
          "gives both the same shape");
  }
  return warnings;
}

std::vector<std::string> warnings_of_unused(const Graph& graph, const config::RunConfig& config,
                                            const config::BuiltModel& model, std::vector<Output> outputs) {
  const auto scores = scores_of(model);
  outputs.insert(outputs.end(), scores.begin(), scores.end());
  outputs.insert(outputs.end(), model.images.begin(), model.images.end());
  const std::vector<bool> needed = nodes_needed(graph, outputs);
  std::vector<std::string> warnings;
  for (const config::Definition& definition : config.model.graph) {
    const auto& value = model.symbols.values.find(definition.name)->second;
    const auto* const output = value ? std::get_if<Output>(&value->value()) : nullptr;
    if (output && !needed[output->node])
      warnings.push_back(config::Diagnostics(*config.document).where(definition.expression.place) +
                         ": model.graph." + definition.name +
                         " is used by neither the loss nor a metric nor an output; what is listed in "
                         "[model.outputs] is predicted");
  }
  return warnings;
}

std::vector<std::string> warnings_of_classes(const Graph& graph, const config::RunConfig& config,
                                             const config::BuiltModel& model) {
  std::vector<std::string> warnings;
  for (const Node* const node : losses_of_classes(graph, model)) {
    const Node& logits = origin_of(graph, node->inputs[0]);
    const std::string result = placed(config, definition_of(logits));
    if (logits.type() == "Softmax" || logits.type() == "Sigmoid") {
      const char* const function = logits.type() == "Softmax" ? "softmax" : "sigmoid";
      std::string& warning = warnings.emplace_back(result);
      warning.append(" is the result of a ").append(function);
      warning.append(", but the loss takes values before it and applies it itself; leave the activation \"");
      warning.append(function).append("\" out");
    }
    const PartialShape& shape = graph.shape(node->inputs[0]);
    if (shape.has_rank(2) && shape[1] == 1)
      warnings.push_back(
          result +
          " has one value for a sample, but a softmax of one value is always 1, so the loss teaches nothing; "
          "numbers take the loss mean_squared_error, two classes binary_cross_entropy");
  }
  return warnings;
}

std::optional<LabelRange> range_of_labels(const Graph& graph, const config::RunConfig& config,
                                          const config::BuiltModel& model) {
  std::optional<LabelRange> range;
  for (const Node* const node : losses_of_classes(graph, model)) {
    if (!compares_label(graph, config, *node)) continue;
    const int64_t classes = graph.shape(node->inputs[0])[1];
    if (!range || classes < range->classes)
      range = {origin_of(graph, node->inputs[1]).name, classes,
               placed(config, definition_of(origin_of(graph, node->inputs[0])))};
  }
  return range;
}

Status check_classes(const Graph& graph, const config::RunConfig& config, const config::BuiltModel& model,
                     const data::Dataset& columns) {
  for (const Node* const node : losses_of_classes(graph, model)) {
    if (!compares_label(graph, config, *node)) continue;
    const PartialShape& shape = graph.shape(node->inputs[0]);
    const Node& label = origin_of(graph, node->inputs[1]);
    TROUPE_RETURN_IF_FAILED(check_numbers_of_classes(label.name, columns));
    const Classes classes = classes_of(config, label.name, columns);
    if (classes.count <= shape[1]) continue;
    const Node& logits = origin_of(graph, node->inputs[0]);
    const bool is_one = graph.shape({logits.id, 0}).has_rank(2) && graph.shape({logits.id, 0})[1] == 1;
    const std::string name = definition_of(logits);
    const bool is_layer = std::ranges::count(config.model.layers, name, &config::Layer::name) != 0;
    return invalid_argument(
        placed(config, name) + " has " + (is_one ? "one value" : std::to_string(shape[1]) + " values") +
        " for a sample, enough for " + std::to_string(shape[1]) + " classes, but '" + label.name + "' has " +
        classes.text +
        (is_layer && classes.are_named ? "; write units = " + std::to_string(classes.count) : ""));
  }
  return {};
}

std::vector<std::string> warnings_of_scores(const config::RunConfig& config) {
  std::vector<std::string> warnings;
  const config::Train& train = config.train;
  if (train.early_stop) add_warning_of_monitor(config, "early_stop", train.early_stop->monitor, warnings);
  if (train.plateau) add_warning_of_monitor(config, "plateau", train.plateau->monitor, warnings);
  const data::Options& data = config.data;
  if (!train.metrics.empty() && data.test.empty() && data.valid.empty() && data.valid_split == 0)
    warnings.push_back(
        place_in_train(config, "", "metrics") +
        "train.metrics: they are computed on samples that the training does not see, and there "
        "are none; data.valid = { split = 0.1 } holds some out");
  for (const config::Definition& metric : train.metrics)
    if (contains(losses_of_numbers, train.loss.text) && contains(scores_of_classes, metric.expression.text))
      warnings.push_back(place_in_train(config, "", "metrics") + "train.metrics: '" + metric.expression.text +
                         "' compares classes, but the loss " + train.loss.text +
                         " is one of numbers; \"r2\" and \"mean_absolute_error\" are metrics of numbers");
  return warnings;
}

}  // namespace troupe::runs
