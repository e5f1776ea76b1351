// Checking a node against the definition of its op: attributes completed, types of inputs verified, types of outputs derived
// (features.md B3, B4). Done once, when a node enters a graph, so that nothing after it needs to ask again.
#pragma once

#include <span>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// Fills in the attributes that inputs and defaults determine and checks all of them. InvalidArgument names the argument or
/// attribute and both types.
Status complete_attributes(const OpDef& op, std::span<const EdgeType> inputs, Attributes& attrs);

/// The flattened types of `arguments` under complete attributes.
std::vector<EdgeType> flattened_types(std::span<const ArgDef> arguments, const Attributes& attrs);

/// How many tensors an argument stands for under complete attributes.
size_t arity(const ArgDef& argument, const Attributes& attrs);

/// True when the op keeps input (or output) `index` of the node in host memory on any device (ArgDef::on_host).
bool in_host_memory(const Node& node, size_t index, bool is_input);

}  // namespace troupe
