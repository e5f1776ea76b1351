// StepDescription: what a step of a session is made of (Session::describe()): which device runs each node, and the graph that each
// device runs. Plain values. Public header.
#pragma once

#include <string>
#include <vector>

#include "graph/build/graph.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A node of the session's graph, and the full name of the device where it runs.
struct PlacedNode {
  std::string name, op, device;
};

/// What one device runs: nodes of the session's graph, those that several of them have been fused to, and, for tensors that move
/// between devices, _Send and _Recv. A node that is fed is an _Arg.
struct DevicePart {
  std::string device;  ///< full name
  Graph graph;
};

struct StepDescription {
  /// The nodes of the step after simplification and before fusion. Those whose values were constants, or the same as others', are
  /// missing, unless SessionOptions::simplify is false.
  std::vector<PlacedNode> nodes;
  /// The requests that no device satisfies, which Placement::Soft ignores, each with the node and what it got.
  std::vector<std::string> ignored_requests;
  std::vector<DevicePart> parts;

  /// Returns a line for each node, "NAME: (OP) DEVICE", and for each request that was ignored.
  std::string text() const;
};

}  // namespace troupe
#pragma GCC visibility pop
