// Partition: one graph per device out of a placed one (features.md I1-I7; white paper, section 3.2.2): last
// of the master's passes. What crosses devices becomes one Send/Recv pair per source tensor, destination
// device and kind of memory, shared by all consumers; a loop on several devices gets a control loop on each
// that cannot iterate by itself or that receives inside it. Plain values.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "graph/passes/memory_kinds.h"
#include "graph/passes/placer.h"

namespace troupe {

/// A fed or fetched tensor: its position in the signature of the step, and where it is in the partition.
struct PartitionEnd {
  uint32_t position = 0;
  Output output;
};

struct Partition {
  DeviceId device = 0;
  Graph graph;                 ///< in topological order: only back edges of loops come from later nodes
  std::vector<NodeId> origin;  ///< per node: which it was in the placed graph; no_node for what was added
  /// For Plan::make: what is fed (outputs of _Arg nodes) and fetched (what _Retval nodes would take), in
  /// order of position.
  std::vector<PartitionEnd> feeds, fetches;
};

/// The partitions that hold any node, in order of device. Sends and Recvs carry both devices and are named
/// "edge_<n>_<source>" (attribute tensor_name), n counting all pairs. Control edges travel as an empty
/// tensor. The reference of a variable that was perhaps written before its reader runs has a pair for that
/// reader alone: its _Recv starts when the reader's other inputs have arrived, its _RefSend only announces
/// the tensor and takes the value when it is asked for.
///
/// Before the cut, control-flow ops move: a Switch to its data input, an Exit to its source, an Enter or
/// NextIteration to its consumers when they share a device (I6).
///
/// InvalidArgument, naming op and node: inputs from different frames; a reference or handle that would cross
/// devices; a frame across devices without LoopCond.
Result<std::vector<Partition>> partition(const Graph& graph, std::vector<DeviceId> device,
                                         std::span<const DeviceInfo> devices);

/// Indices of partitions by task ("/job:worker/replica:0/task:1"): what one process is sent together.
std::map<DeviceName, std::vector<size_t>> group_by_task(std::span<const Partition> partitions,
                                                        std::span<const DeviceInfo> devices);

}  // namespace troupe
