#include "apps/runs/model_warnings.h"

#include <algorithm>
#include <array>

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

}  // namespace

std::vector<std::string> warnings_of_broadcasts(const Graph& graph, const config::BuiltModel& model) {
  std::vector<std::string> warnings;
  const std::vector<bool> needed = nodes_needed(graph, scores_of(model));
  for (const Node& node : graph.nodes()) {
    if (!needed[node.id] || std::ranges::find(elementwise, node.type()) == elementwise.end()) continue;
    const PartialShape &left = graph.shape(node.inputs[0]), &right = graph.shape(node.inputs[1]);
    const bool pairs_up = (is_vector_of_samples(left) && is_column_of_samples(right)) ||
                          (is_vector_of_samples(right) && is_column_of_samples(left));
    if (pairs_up)
      warnings.push_back(
          "'" + definition_of(node) + "' combines " + left.text() + " with " + right.text() +
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
  const std::vector<bool> needed = nodes_needed(graph, outputs);
  std::vector<std::string> warnings;
  for (const config::Definition& definition : config.model.graph) {
    const auto& value = model.symbols.values.find(definition.name)->second;
    const auto* const output = value ? std::get_if<Output>(&value->value()) : nullptr;
    if (output && !needed[output->node])
      warnings.push_back("model.graph." + definition.name +
                         " is used by neither the loss nor a metric nor an output");
  }
  return warnings;
}

}  // namespace troupe::runs
