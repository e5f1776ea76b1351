// Which nodes compute with integers in host memory on devices with memory of their own, by their kernels for CPUs: they compute
// shapes, counters, positions and predicates, which other nodes take there. Pure functions.
#pragma once

#include "graph/build/graph.h"

namespace troupe {

/// Returns whether all inputs and outputs of the node lie in host memory on every device: it is arithmetic or a change of layout of
/// int32 or int64, for which GPUs have no kernel, or an access to a list of int32 tensors.
bool computes_integers_on_host(const Node& node);

/// Returns whether output 0 of the node has the elements of input 0, where these lie.
bool passes_on(const Node& node);

}  // namespace troupe
