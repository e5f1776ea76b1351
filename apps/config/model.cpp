#include "apps/config/model.h"

#include "apps/config/reader.h"

namespace troupe::config {
namespace {

int64_t width_of(const Scope& scope, const Symbols& symbols, const std::string& name) {
  const auto known = symbols.values.find(name);
  const auto* output =
      known != symbols.values.end() && known->second ? std::get_if<Output>(&known->second->value()) : nullptr;
  if (!output) return unknown_dim;
  const PartialShape& shape = scope.shape(*output);
  return shape.rank() > 0 ? shape[shape.rank() - 1] : unknown_dim;
}

/// Evaluates a definition that must be a scalar and, if `floating`, of a floating type.
std::optional<Output> scalar(const Scope& scope, const Definition& definition, const Symbols& symbols,
                             bool floating, Diagnostics& diagnostics) {
  const auto output = evaluate(scope, definition, symbols, diagnostics);
  if (!output) return {};
  const PartialShape& shape = scope.shape(*output);
  const DType dtype = scope.dtype(*output);
  if (!shape.compatible_with(PartialShape::scalar()) || (floating && !is_floating(dtype))) {
    diagnostics.error_in(definition.expression, 0,
                         definition.name + " is " + std::string(name(dtype)) + shape.text() +
                             "; it must be a scalar" + (floating ? " of a floating type" : ""));
    return {};
  }
  return output;
}

Variable variable_of(const Layer& layer, std::string name, std::vector<int64_t> shape,
                     std::string initializer) {
  Variable variable;
  variable.name = std::move(name);
  variable.shape = std::move(shape);
  variable.initializer.type = std::move(initializer);
  variable.place = layer.place;
  return variable;
}

/// The names of a model and what they stand for. A name that is used twice is reported with both locations.
class Names {
 public:
  Names(const RunConfig& config, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    for (const auto& input : data::all_inputs(config.data)) known_[input.name] = "an input of the data";
    Reader(&config.document->root())
        .table("data")
        .table("inputs")
        .each([&](const auto& name, SourceLocation place, auto&) {
          known_[name] = "the input at " + diagnostics.where(place);
        });
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

}  // namespace

Model expand_layers(Model model, int64_t features) {
  std::string input = model.input;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const std::string name = layer.type + '_' + std::to_string(i + 1);
    model.variables.push_back(
        variable_of(layer, name + "_weights", {features, layer.units}, layer.initializer));
    std::string expression = "matmul(" + input + ", " + name + "_weights)";
    if (layer.bias) {
      model.variables.push_back(variable_of(layer, name + "_bias", {layer.units}, "zeros"));
      expression += " + " + name + "_bias";
    }
    if (layer.activation != "linear") expression = layer.activation + '(' + expression + ')';
    features = layer.units;
    input = i + 1 < model.layers.size() ? name : "output";
    model.graph.push_back({input, {std::move(expression), layer.place}});
  }
  return model;
}

BuiltModel build_model(const RunConfig& config, const Scope& scope, Symbols inputs,
                       const MakeVariable& make_variable, Diagnostics& diagnostics) {
  BuiltModel built{std::move(inputs), {}, {}};
  auto& values = built.symbols.values;
  Names names(config, diagnostics);
  const size_t own_variables = config.model.variables.size(), own_definitions = config.model.graph.size();
  Model model = expand_layers(config.model, width_of(scope, built.symbols, config.model.input));
  for (size_t i = 0; i < model.variables.size(); ++i) {
    const Variable& variable = model.variables[i];
    if (names.take(variable.name, i < own_variables ? "variable" : "variable of the layer", variable.place))
      values.emplace(variable.name, make_variable(scope, variable));
  }
  std::vector<Definition> definitions;
  for (size_t i = 0; i < model.graph.size(); ++i) {
    const Definition& definition = model.graph[i];
    if (names.take(definition.name, i < own_definitions ? "definition" : "layer",
                   definition.expression.place))
      definitions.push_back(definition);
  }
  define(scope, definitions, built.symbols, diagnostics);
  built.loss = scalar(scope, {"loss", config.train.loss}, built.symbols, true, diagnostics);
  for (const auto& metric : config.train.metrics)
    if (const auto output = scalar(scope, metric, built.symbols, false, diagnostics))
      built.metrics.emplace_back(metric.name, *output);
  return built;
}

void check_model(const RunConfig& config, Symbols refused, std::shared_ptr<const OpTable> ops,
                 Diagnostics& diagnostics) {
  Graph graph(std::move(ops));
  const Scope scope(graph);
  for (const auto& input : data::all_inputs(config.data)) {
    std::vector<int64_t> dims = {unknown_dim};
    if (input.shape)
      dims.insert(dims.end(), input.shape->begin(), input.shape->end());
    else if (input.from == data::feature_column)
      dims.push_back(unknown_dim);
    const Attributes attrs = {{"dtype", input.cast}, {"shape", PartialShape(std::move(dims))}};
    refused.values.emplace(input.name, scope.with_name(input.name).add_one("Placeholder", {}, attrs));
  }
  const auto make_variable = [](const Scope& at, const Variable& variable) {
    return at.with_name(variable.name)
        .add_one("VariableV2", {}, {{"dtype", variable.dtype}, {"shape", PartialShape(variable.shape)}});
  };
  build_model(config, scope, std::move(refused), make_variable, diagnostics);
}

}  // namespace troupe::config
