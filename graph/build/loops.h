// Loops: the while loops of a graph, as the nodes Enter, Merge, Switch, NextIteration and Exit form them (features.md F13), and the
// branches in which nodes are. gradients() reads it. It describes the nodes that the graph had when it was made, and those recorded
// since. One thread.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/build/frames.h"

namespace troupe {

/// A variable of a loop: Enter -> Merge -> Switch -> body -> NextIteration -> Merge, and Switch -> Exit.
struct LoopVariable {
  NodeId enter = 0;
  NodeId merge = 0;
  NodeId steer = 0;  ///< the Switch; its output 1 leads to the body
  NodeId next = 0;   ///< the NextIteration
  std::vector<NodeId> exits = {};
};

struct Loop {
  FrameId frame = root_frame;
  FrameId parent = root_frame;
  NodeId condition = 0;  ///< the LoopCond
  std::vector<LoopVariable> variables = {};
  std::vector<NodeId> invariants = {};  ///< the Enters that deliver their value to each iteration
  bool is_complete = false;             ///< all its variables have the form above
};

/// A node in a branch runs only if the predicate is true (side 1) or false (side 0).
struct Guard {
  Output predicate;
  uint32_t side = 0;
  friend bool operator==(const Guard&, const Guard&) = default;
};
/// The branches around a node, from the outermost one in its loop.
using Guards = std::vector<Guard>;

class Loops {
 public:
  /// Throws Error: InvalidArgument if the frames of what the roots need are not sound.
  Loops(const Graph& graph, const std::vector<Output>& roots);

  /// Returns the frame in which the consumers of the node run.
  FrameId frame_of(NodeId node) const;
  FrameId parent_of(FrameId frame) const { return info_.frames[frame].parent; }
  /// Returns the attributes of an Enter into this frame.
  Attributes enter_attributes(FrameId frame) const;
  /// Returns the complete loop that the node, an Exit, leaves; null for another node.
  const Loop* loop_left_by(NodeId node) const;
  /// Returns the complete loop whose LoopCond this node is; null for another node.
  const Loop* loop_of_condition(NodeId node) const;
  /// Returns true for the Merge, the Switch and the NextIteration of a variable of a complete loop.
  bool steers(NodeId node) const { return variables_.contains(node); }
  /// Returns the branches in which the output has a value.
  Guards guards(Output output);

  /// Returns the branches around the loop of this frame: those of what enters it.
  Guards guards_around(FrameId frame);

  /// Records a node that was added to a loop since.
  void record(NodeId node, FrameId frame, Guards guards);

 private:
  void find_variables();
  void find_ends();
  void compute_guards();
  Guards guards_of(const Node& node) const;
  Guards guards_at(Output output) const;
  Guards guards_of_enters(FrameId frame) const;
  void check_completeness();

  const Graph& graph_;
  size_t known_;  ///< the number of nodes when this was made
  FrameInfo info_;
  std::vector<Loop> loops_;                                           ///< per frame
  std::unordered_map<NodeId, std::pair<FrameId, size_t>> variables_;  ///< from the nodes that steer()
  std::unordered_map<NodeId, FrameId> conditions_;
  std::vector<Guards> guards_;  ///< per node; empty until asked for
  std::unordered_map<NodeId, std::pair<FrameId, Guards>> recorded_;
};

}  // namespace troupe
