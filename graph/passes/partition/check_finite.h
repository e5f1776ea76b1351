// Checking that numbers are finite, a pass of the master for debugging (features.md U7): each float output of a placed step gets a
// node that passes it on, unless it has NaN or infinity while the float inputs of its node have neither. Then the step fails and
// names that node, the first whose result is wrong. A step that selects elements from a mask of infinities, say, passes. Runs
// after placement, before nodes are fused. A function without state; one thread.
#pragma once

#include <string_view>
#include <vector>

#include "graph/build/graph.h"
#include "graph/passes/place/placer.h"

namespace troupe {

/// The op of the nodes that the pass adds (kernels/ops/array/numerics.cpp).
inline constexpr std::string_view check_finite_op = "_CheckFinite";
/// What such a node gives as the op of a feed.
inline constexpr std::string_view checked_feed = "feed";
/// A part of the text of their failures.
inline constexpr std::string_view first_not_finite_note = "the first numbers of the step that are not finite";

/// Returns whether a step failed because of such a node.
bool is_not_finite(const Status& failure);

/// Adds the nodes to `graph` and their devices to `device`, which has one for each node. Constants, variables that are references,
/// and what only passes on tensors are not checked, nor are the nodes inside of functions that are called.
Status check_finite(Graph& graph, std::vector<DeviceId>& device);

}  // namespace troupe
