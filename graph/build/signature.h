// Checks a node against the definition of its op: completes attributes, checks the types of inputs, and derives the types of
// outputs (features.md B3, B4). Done once, when a node enters a graph, so that later code need not check again. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// Adds the attributes that the inputs and the defaults determine, and checks all
/// attributes. Fails with InvalidArgument, naming the argument or attribute and both types.
Status complete_attributes(const OpDef& op, std::span<const EdgeType> inputs, Attributes& attrs);

/// Returns the flattened types of arguments. The attributes must be complete.
std::vector<EdgeType> flattened_types(std::span<const ArgDef> arguments, const Attributes& attrs);

/// Returns how many tensors an argument has. The attributes must be complete.
size_t arity(const ArgDef& argument, const Attributes& attrs);

/// Returns the name of input `index` of the node, for errors: "a", or "values[2]" for an argument that has several tensors.
std::string argument_name(const Node& node, size_t index);

/// Returns true if input (or output) `index` of the node is in host memory on any device (ArgDef::on_host).
bool in_host_memory(const Node& node, size_t index, bool is_input);

}  // namespace troupe
