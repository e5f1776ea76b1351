// Graph text: a graph for people, in messages, logs and tests. One line per node, in the order of ids:
//   y = MatMul(x, w:1, ^init) transpose_a=true : float[?,10] @/job:ps colocated with w
// Attributes that the inputs or the defaults determine are left out.
// Of large tensors only the first elements are shown. Pure functions.
#pragma once

#include <string>

#include "graph/build/graph.h"

namespace troupe {

std::string graph_text(const Graph& graph);
/// Returns the line of one node, without its end.
std::string node_text(const Graph& graph, const Node& node);
/// Returns "float[2,2]{1,2,3,...}", with at most that many elements. Types that have no text form are shown without elements.
std::string tensor_text(const Tensor& tensor, size_t max_elements);

}  // namespace troupe
