// Frames: the loop, if any, in which each node of a graph runs (features.md B9, F5). They are static: one
// LoopFrame stands for all its instances at run time. A loop inside a loop is a frame inside a frame; frame 0 is
// everything outside all loops. Plain values, computed once per graph where they are needed (plan, partition).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// The control-flow ops, including their Ref variants.
enum class FlowKind : uint8_t { None, Switch, Merge, Enter, Exit, NextIteration, LoopCond, ControlTrigger };

FlowKind flow_kind(const OpDef& op);
inline FlowKind flow_kind(const Node& node) { return flow_kind(*node.op); }

using FrameId = uint32_t;
inline constexpr FrameId root_frame = 0;

struct LoopFrame {
  std::string name;  ///< the attribute frame_name of its Enter nodes; empty for the root
  FrameId parent = root_frame;
  uint32_t depth = 0;               ///< 0 for the root
  int64_t parallel_iterations = 1;  ///< that of the first Enter node
  /// In the order of their ids; an instance has all its inputs when all of them have arrived.
  std::vector<NodeId> enters;
};

struct FrameInfo {
  std::vector<LoopFrame> frames;  ///< frames[0] is the root; a parent comes before its children
  /// For each node, the frame in which it runs. An Enter runs in the parent frame, an Exit in the child frame.
  std::vector<FrameId> of_node;
  /// For each node, the frame in which its consumers run. It differs from of_node for Enter and Exit only.
  std::vector<FrameId> of_outputs;
};

/// Computes the frames. Two Enter nodes open the same frame if their frame_name and their parent frame are equal.
/// Fails with InvalidArgument if the inputs or control inputs of a node come from different frames (naming both),
/// for an Enter without a frame name, for an Exit or NextIteration outside every loop, and for a cycle.
Result<FrameInfo> assign_frames(std::span<const Node> nodes);
inline Result<FrameInfo> assign_frames(const Graph& graph) { return assign_frames(graph.nodes()); }
/// Computes the frames of the whole graph, but checks only what the roots, outputs or targets, need. Another node whose inputs
/// come from different frames gets the frame of its first input.
Result<FrameInfo> assign_frames(const Graph& graph, const std::vector<Output>& roots);

/// Returns a description for messages: "frame 'inner' in frame 'outer'", "the outermost frame".
std::string describe(const FrameInfo& info, FrameId frame);

}  // namespace troupe
