// Liveness: which outputs of a graph with control flow are alive whenever others are, rather than dead because a branch was not
// taken or a loop has ended (features.md F1-F6). Plain values, computed in linear time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/build/frames.h"

namespace troupe {

class Liveness {
 public:
  /// A condition under which an output is alive. It implies its parent; condition 0 always holds.
  using Condition = uint32_t;
  static constexpr Condition always = 0;

  /// `order` has all nodes, inputs before their consumers.
  Liveness(std::span<const Node> nodes, std::span<const NodeId> order);

  /// Returns true if `b` is alive in every step and iteration in which `a` is. False says nothing; it is
  /// the result for other nodes.
  bool implies(Output a, Output b) const;

 private:
  std::vector<uint32_t> first_output_;  ///< for each node, the place of its first output
  std::vector<Condition> conditions_;   ///< of each output
  std::vector<Condition> parents_;      ///< of each condition; a parent comes before its children
};

}  // namespace troupe
