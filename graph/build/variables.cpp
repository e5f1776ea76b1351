#include "graph/build/variables.h"

namespace troupe {
namespace {

constexpr std::string_view trainable_attr = "_trainable", initializer_attr = "_initializer";

bool is_variable(const Node& node) { return node.attrs.find(trainable_attr) != nullptr; }

}  // namespace

Output variable(const Scope& scope, Output initial, std::string_view name, bool trainable) {
  const PartialShape& shape = scope.shape(initial);
  if (!shape.fully_known())
    throw Error(invalid_argument("the initial value of variable '" + std::string(name) + "' has shape " +
                                 shape.text() + ", which is not fully known"));
  const Output variable = scope.with_name(name).add_one(
      "VariableV2", {},
      {{"dtype", scope.dtype(initial)}, {"shape", shape}, {std::string(trainable_attr), trainable}});
  scope.with_name(std::string(name) + "/Assign")
      .colocated_with(variable)
      .add("Assign", {variable, initial}, {{std::string(initializer_attr), true}});
  return variable;
}

std::vector<Output> variables(const Graph& graph) {
  std::vector<Output> result;
  for (const Node& node : graph.nodes())
    if (is_variable(node)) result.push_back(graph.output(node.id, 0));
  return result;
}

std::vector<Output> trainable_variables(const Graph& graph) {
  std::vector<Output> result;
  for (const Node& node : graph.nodes())
    if (is_variable(node) && node.attrs.get<bool>(trainable_attr)) result.push_back(graph.output(node.id, 0));
  return result;
}

Output initial_value(const Graph& graph, Output variable) {
  for (const Node& node : graph.nodes())
    if (node.attrs.find(initializer_attr) && node.inputs[0] == variable) return node.inputs[1];
  throw Error(invalid_argument("the node '" + graph.node(variable.node).name + "' has no initial value"));
}

Output initializer(const Scope& scope) {
  std::vector<Output> assigns;
  for (const Node& node : scope.graph().nodes())
    if (node.attrs.find(initializer_attr)) assigns.push_back({node.id, Output::control});
  return scope.with_name("init").group(assigns);
}

}  // namespace troupe
