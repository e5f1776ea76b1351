#include "apps/inference/saved_names.h"

#include "graph/build/needed_part.h"
#include "kernels/core/state.h"

namespace troupe::inference {

Output source_of(const Graph& graph, Output output) {
  while (graph.node(output.node).type() == "Identity") output = graph.node(output.node).inputs[0];
  return output;
}

std::string text_at(const Graph& graph, Output texts, uint32_t index) {
  const Tensor* const values = graph.constant(texts);
  if (!values || values->dtype() != DType::String || index >= static_cast<uint64_t>(values->elements()))
    return {};
  return values->as<std::string>()[index];
}

std::map<std::string, SavedName> saved_names(const interop::MetaGraph& meta) {
  std::map<std::string, SavedName> names;
  const Graph& graph = meta.graph;
  const Node* const restore = meta.saver ? graph.find(meta.saver->restore_node) : nullptr;
  if (!restore) return names;
  const std::vector<bool> restores = nodes_needed(graph, {{restore->id, Output::control}});
  for (const Node& assign : graph.nodes()) {
    if (!restores[assign.id] || (assign.type() != "Assign" && assign.type() != "AssignVariableOp")) continue;
    const Node& variable = graph.node(source_of(graph, assign.inputs[0]).node);
    const Output value = source_of(graph, assign.inputs[1]);
    const Node& read = graph.node(value.node);
    if (!is_variable(variable) || read.type() != "RestoreV2") continue;
    SavedName name{text_at(graph, read.inputs[1], value.index), text_at(graph, read.inputs[2], value.index)};
    if (!name.name.empty()) names.emplace(state_name(variable), std::move(name));
  }
  return names;
}

}  // namespace troupe::inference
