// Gradients of a model that is spread over several devices. Failures throw Error, as in the graph builder. Public header; one
// thread at a time per graph.
#pragma once

#include <vector>

#include "graph/build/gradients.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Does what gradients() does, but computes the gradients of each node on the device that the node requests, so that what a
/// device has computed is used there. Nodes that request no device have their gradients on the device of `scope`, and
/// several gradients of a variable are summed where the first of them is.
std::vector<Gradient> gradients_beside(const Scope& scope, const std::vector<Output>& ys,
                                       const std::vector<Output>& xs);

}  // namespace troupe
#pragma GCC visibility pop
