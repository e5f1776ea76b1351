#include "apps/config/model.h"

#include "apps/config/data_map.h"
#include "apps/config/encoded_columns.h"
#include "apps/config/fine_tuning.h"
#include "apps/config/layer_calls.h"
#include "apps/config/ragged_inputs.h"
#include "apps/config/reader.h"
#include "apps/config/scores.h"
#include "apps/config/stages.h"
#include "apps/config/windows.h"

namespace troupe::config {
namespace {

/// Evaluates a definition that must be a scalar of a floating type, or a vector of means if it is a metric of all samples.
std::optional<Output> scalar(const nn::Network& network, const Definition& definition, const Symbols& symbols,
                             bool is_metric, Diagnostics& diagnostics) {
  const auto output = evaluate(network, definition, symbols, diagnostics);
  if (!output) return {};
  const Scope& scope = network.scope();
  const PartialShape& shape = scope.shape(*output);
  const DType dtype = scope.dtype(*output);
  if (is_metric && set_metric_of(definition)) return output;
  const bool is_scalar = shape.compatible_with(PartialShape::scalar());
  if (!is_scalar || !is_floating(dtype)) {
    const std::string number = is_floating(dtype) ? "..." : "cast(..., 'float')";
    diagnostics.error_in(definition.expression, 0,
                         definition.name + " is " + std::string(name(dtype)) + shape.text() +
                             "; it must be a scalar of a floating type; " +
                             (is_scalar ? number : "mean(" + number + ')') + " of it is one");
    return {};
  }
  return output;
}

nn::Initial initial_of(const Initializer& options) {
  if (auto initial = nn::find_initializer(options.type)) return initial;
  if (options.type == "constant") return nn::all_equal(options.value);
  return [options](const Scope& scope, const PartialShape& shape, DType dtype) {
    if (options.type == "uniform") return nn::uniform(scope, shape, dtype, options.minimum, options.maximum);
    if (options.type == "normal") return nn::normal(scope, shape, dtype, options.mean, options.stddev);
    if (options.type == "truncated_normal")
      return nn::truncated_normal(scope, shape, dtype, options.mean, options.stddev);
    throw Error(internal("unknown initializer '" + options.type + "'"));
  };
}

/// The names of a model and what they stand for. A name that is used twice is reported with both locations.
class Names {
 public:
  Names(const RunConfig& config, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    for (const auto& input : data::all_inputs(config.data)) known_[input.name] = "an input of the data";
    for (const data::TableColumn& column : config.data.columns) known_.erase(column.name);
    for (const std::string& name : encoded_names(config.data.columns)) known_[name] = "columns of the data";
    Reader(&config.document->root())
        .table("data")
        .table("inputs")
        .each([&](const auto& name, SourceLocation place, auto&) {
          known_[name] = "the input at " + diagnostics.where(place);
        });
    for (const data::RaggedColumn& column : config.ragged)
      known_[column.name] = known_[column.companion()] = "a ragged column of the data";
    for (const Definition& column : config.map)
      known_[column.name] = "the column at " + diagnostics.where(column.expression.place);
  }

  /// Reserves the name for `what` at the given location. Returns false and reports a mistake if the name is already in use.
  bool take(const std::string& name, const std::string& what, SourceLocation place) {
    const auto [at, fresh] = known_.try_emplace(name, what + " at " + diagnostics_.where(place));
    if (!fresh)
      diagnostics_.error(place, "model: '" + name + "' names two things, this " + what + " and " +
                                    at->second +
                                    "; names of inputs, variables, definitions and layers must differ");
    return fresh;
  }

 private:
  Diagnostics& diagnostics_;
  std::map<std::string, std::string> known_;
};

/// Reserves the names of the weights that layers have created, from the one numbered `first` on.
void take_weights(const nn::Network& network, size_t first, const std::vector<Definition>& definitions,
                  Names& names) {
  for (size_t i = first; i < network.weights().size(); ++i) {
    const std::string& name = network.weights()[i].first.name;
    const auto owner = std::ranges::find_if(
        definitions, [&](const Definition& one) { return name.starts_with(one.name + '_'); });
    if (owner != definitions.end()) names.take(name, "variable of the layer", owner->expression.place);
  }
}

}  // namespace

Model expand_layers(Model model) {
  std::string input = model.input;
  for (const Layer& layer : model.layers) {
    std::string call =
        std::string(layer_prefix) + layer.type + '(' + (layer.input.empty() ? input : layer.input);
    if (!layer.options.empty()) call += ", " + layer.options;
    model.graph.push_back({layer.name, {call + ')', layer.place, true}});
    input = layer.name;
  }
  if (!model.layers.empty() && input != "output")
    model.graph.push_back({"output", {input, model.layers.back().place, true}});
  return model;
}

namespace {

/// Puts the definitions into the segments of the file. Unknown names are reported only if all definitions are `complete`.
void assign_segments(const std::vector<Segment>& segments, bool complete,
                     std::vector<Definition>& definitions, Diagnostics& diagnostics) {
  std::vector<std::string_view> names;
  for (const Definition& definition : definitions) names.push_back(definition.name);
  const auto refuse = [&](const Segment& segment, const std::string& member, const std::string& why) {
    diagnostics.error(segment.place, "model.recompute." + segment.name + ": '" + member + "' is " + why);
  };
  for (const Segment& segment : segments)
    for (const std::string& member : segment.members) {
      const auto found = std::ranges::find(definitions, member, &Definition::name);
      if (found == definitions.end()) {
        if (complete) refuse(segment, member, "neither a definition nor a layer" + hint(member, names));
      } else if (!found->segment.empty()) {
        refuse(segment, member, "in segment '" + found->segment + "', too");
      } else {
        found->segment = segment.name;
      }
    }
}

}  // namespace

namespace {

/// Checks what the file says about weights that are split. Unknown names are reported only if the model is `complete`.
void check_split(const Model& model, const nn::Network& network, bool complete, Diagnostics& diagnostics) {
  std::vector<std::string_view> names;
  for (const auto& [weight, edge] : network.weights()) names.push_back(weight.name);
  for (const SplitWeight& split : model.split) {
    const auto found = std::ranges::find_if(
        network.weights(), [&](const auto& known) { return known.first.name == split.name; });
    const auto refuse = [&](const std::string& why) {
      diagnostics.error(split.place, "model.split." + split.name + ": " + why);
    };
    if (found == network.weights().end()) {
      if (complete) refuse("there is no variable or weight of this name" + hint(split.name, names));
      continue;
    }
    if (!found->first.trainable) refuse("only variables that are trained can be split");
    const PartialShape& shape = found->first.shape;
    if (!shape.known_rank()) continue;
    if (split.dimension >= static_cast<int64_t>(shape.rank()))
      refuse("the shape is " + shape.text() + ", so there is no dimension " +
             std::to_string(split.dimension));
    else if (const int64_t size = shape[static_cast<size_t>(split.dimension)];
             size != unknown_dim && size < model.split_over)
      refuse(
          "dimension " + std::to_string(split.dimension) + " of " + shape.text() +
          " is shorter than the number of devices, model.split_over = " + std::to_string(model.split_over));
  }
}

/// Adds a summary of the images of each expression of observe.images.
void add_images(const RunConfig& config, const nn::Network& network, BuiltModel& built,
                Diagnostics& diagnostics) {
  constexpr int64_t most_images = 8;
  const Scope& scope = network.scope();
  for (const Definition& definition : config.observe.images) {
    const auto images = evaluate(network, definition, built.symbols, diagnostics);
    if (!images) continue;
    const PartialShape& shape = scope.shape(*images);
    const bool has_shape =
        !shape.known_rank() ||
        (shape.has_rank(4) && (shape[3] == unknown_dim || shape[3] == 1 || shape[3] == 3 || shape[3] == 4));
    const DType dtype = scope.dtype(*images);
    const bool has_type =
        dtype == DType::UInt8 || dtype == DType::Float || dtype == DType::Half || dtype == DType::Double;
    if (has_shape && has_type)
      built.images.push_back(scope.add_one("ImageSummary",
                                           {scope.constant(Tensor::scalar(definition.name)), *images},
                                           {{"max_images", most_images}, {"T", dtype}}));
    else
      diagnostics.error_in(
          definition.expression, 0,
          "observe.images." + definition.name + ": the result is " + std::string(name(dtype)) + shape.text() +
              "; images are float or uint8 [batch, height, width, channels] with 1, 3 or 4 channels");
  }
}

}  // namespace

BuiltModel build_model(const RunConfig& config, const nn::Network& network, Symbols inputs,
                       Diagnostics& diagnostics) {
  BuiltModel built{std::move(inputs), {}, {}, {}};
  freeze_layers(config.model, network);
  Names names(config, diagnostics);
  const Model model = expand_layers(config.model);
  std::vector<const Variable*> variables;
  for (const Variable& variable : config.model.variables)
    if (names.take(variable.name, "variable", variable.place)) variables.push_back(&variable);
  std::vector<Definition> definitions;
  for (const Definition& definition : model.graph)
    if (names.take(definition.name, definition.expression.generated ? "layer" : "definition",
                   definition.expression.place))
      definitions.push_back(definition);
  assign_segments(model.recompute, built.symbols.complete, definitions, diagnostics);
  const StagePlan stages(model.stages, built.symbols.complete, definitions, diagnostics);
  if (built.symbols.builder)
    for (const auto& [name, value] : built.symbols.values)
      built.symbols.stages.emplace(name, StageBuilder::of_data);
  for (const Variable* const variable : variables) {
    const int64_t stage = stages.first_use(variable->name, definitions);
    const nn::Network there = built.symbols.builder ? built.symbols.builder->at(network, stage) : network;
    built.symbols.values.emplace(variable->name,
                                 there.weight({variable->name, PartialShape(variable->shape), variable->dtype,
                                               initial_of(variable->initializer), variable->trainable}));
  }
  const size_t own_variables = network.weights().size();
  define(network, definitions, built.symbols, diagnostics);
  take_weights(network, own_variables, definitions, names);
  const auto scalar_of = [&](const Definition& score, bool is_metric, const std::string& more = {}) {
    if (lacks_result(score, built.symbols)) {
      diagnostics.error_in(
          score.expression, 0,
          "'" + score.expression.text +
              "' compares what the model calls logits or output with the label, but it has no "
              "result of these names; rename one, or write nn." +
              score.expression.text + "(RESULT, label)");
      return std::optional<Output>();
    }
    const Comparison comparison =
        is_metric ? comparison_of(score, {"loss", config.train.loss}, network.scope(), built.symbols)
                  : Comparison::OfSamples;
    Definition definition = with_model(score, built.symbols, more, comparison);
    definition.stage = stages.stage_of(definition, definitions);
    return scalar(network, definition, built.symbols, is_metric, diagnostics);
  };
  const Definition loss{"loss", config.train.loss};
  if (is_unknown_name(loss, built.symbols))
    diagnostics.error_in(
        loss.expression, 0,
        "unknown loss '" + loss.expression.text + "'" + advice_on_loss(loss.expression.text, built.symbols));
  else
    built.loss = scalar_of(loss, false, network.training() ? class_weights_argument(config.train) : "");
  for (const auto& metric : config.train.metrics)
    if (is_unknown_name(metric, built.symbols))
      diagnostics.error_in(
          metric.expression, 0,
          "unknown metric '" + metric.expression.text + "'" + advice_on_metric(metric.expression.text));
    else if (const auto output = scalar_of(metric, true))
      built.metrics.emplace_back(metric.name, *output);
  if (!network.training()) add_images(config, network, built, diagnostics);
  const bool is_complete = built.symbols.complete && diagnostics.empty();
  check_split(config.model, network, is_complete, diagnostics);
  if (is_complete) check_fine_tuning(config, network, diagnostics);
  return built;
}

std::vector<std::pair<std::string, Output>> build_outputs(const RunConfig& config, const nn::Network& network,
                                                          const BuiltModel& model, Diagnostics& diagnostics) {
  std::vector<std::pair<std::string, Output>> outputs;
  for (const Definition& definition : config.model.outputs)
    if (const auto output = evaluate(network, definition, model.symbols, diagnostics))
      outputs.emplace_back(definition.name, *output);
  return outputs;
}

void check_model(const RunConfig& config, Symbols refused, std::shared_ptr<const OpTable> ops,
                 Diagnostics& diagnostics) {
  Graph graph(std::move(ops));
  const Scope scope(graph);
  Columns columns;
  bool has_shapes = true;  // otherwise layers are checked only once the samples are known
  for (const auto& input : data::all_inputs(config.data)) {
    std::vector<int64_t> dims = {unknown_dim};
    const auto shape = data::known_shape(config.data, input);
    has_shapes = has_shapes && shape;
    if (shape) dims.insert(dims.end(), shape->begin(), shape->end());
    const Attributes attrs = {{"dtype", input.cast},
                              {"shape", shape ? PartialShape(std::move(dims)) : PartialShape()}};
    columns.emplace_back(input.name, scope.with_name(input.name).add_one("Placeholder", {}, attrs));
  }
  columns = encode_columns(config.data.columns, scope.with_prefix("encode"), columns);
  columns = placeholders_of_windows(config.data, scope.with_prefix("windows"), columns);
  columns = build_data_map(config.map, scope.with_prefix("map"), columns, diagnostics);
  columns = build_data_map(config.augment, scope.with_prefix("augment"), columns, diagnostics);
  columns = ragged_inputs(config, scope, std::move(columns), diagnostics);
  for (const auto& [name, value] : columns) refused.values.emplace(name, value);
  if (!has_shapes) return;
  const nn::WeightSource any_size = [scope](const nn::Weight& weight) {
    return scope.with_name(weight.name)
        .add_one("VariableV2", {}, {{"dtype", weight.dtype}, {"shape", weight.shape}});
  };
  const nn::Network network(scope, nn::Mode::Check, any_size);
  const BuiltModel model = build_model(config, network, std::move(refused), diagnostics);
  build_outputs(config, network, model, diagnostics);
}

}  // namespace troupe::config
