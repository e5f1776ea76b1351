// Frames: which loop, if any, each node of a graph runs in (features.md B9, F5).
// Static: one LoopFrame stands for all its instances at run time. A loop inside a loop is a frame inside a frame;
// frame 0 is what lies outside every loop. Plain values, computed once per graph by whoever needs them (plan,
// partition).
#pragma once

#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// The ops that steer tokens, their Ref variants included.
enum class FlowKind : uint8_t { None, Switch, Merge, Enter, Exit, NextIteration, LoopCond, ControlTrigger };

FlowKind flow_kind(const OpDef& op);
inline FlowKind flow_kind(const Node& node) { return flow_kind(*node.op); }

using FrameId = uint32_t;
inline constexpr FrameId root_frame = 0;

struct LoopFrame {
  std::string name;  ///< attribute frame_name of its Enters; empty for the root
  FrameId parent = root_frame;
  uint32_t depth = 0;               ///< 0 for the root
  int64_t parallel_iterations = 1;  ///< as the first of its Enters says
  std::vector<NodeId> enters;       ///< in order of their ids; an instance is complete when all have arrived
};

struct FrameInfo {
  std::vector<LoopFrame> frames;  ///< frames[0] is the root; a parent comes before its children
  std::vector<FrameId>
      of_node;  ///< per node: where it runs; an Enter runs in the parent, an Exit in the child
  std::vector<FrameId>
      of_outputs;  ///< per node: where its consumers run; differs from of_node for Enter and Exit only
};

/// Two Enters open the same frame when frame_name and parent agree. InvalidArgument when a node's inputs
/// (data or control) come from different frames, naming both; for an Enter without frame name; for an Exit or
/// a NextIteration outside any loop; for a cycle.
Result<FrameInfo> assign_frames(const Graph& graph);

/// For messages: "frame 'inner' in frame 'outer'", "the outermost frame".
std::string describe(const FrameInfo& info, FrameId frame);

}  // namespace troupe
