// Graph text: a graph for people, one line a node, in order of ids, for messages, logs and tests:
//   y = MatMul(x, w:1, ^init) transpose_a=true : float[?,10] @/job:ps colocated with w
// Attributes that the inputs or defaults determine are left out; of big tensors the first elements are shown.
#pragma once

#include <string>

#include "graph/build/graph.h"

namespace troupe {

std::string graph_text(const Graph& graph);
/// Without the line's end.
std::string node_text(const Graph& graph, const Node& node);
/// "float[2,2]{1,2,3,...}": that many elements at most; of types with no text of their own none.
std::string tensor_text(const Tensor& tensor, size_t max_elements);

}  // namespace troupe
