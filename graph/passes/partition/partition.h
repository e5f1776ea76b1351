// Partition: cuts a placed graph into one graph per device (features.md I1-I7; white paper, section 3.2.2).
// It is the last of the master's passes. All tensors that cross devices get one Send/Recv pair per source
// tensor, destination device and kind of memory, shared by all consumers. A loop on several devices gets a
// control loop on each device that has no loop of its own, or that receives inside the loop. Plain values.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "graph/passes/partition/memory_kinds.h"
#include "graph/passes/place/placer.h"

namespace troupe {

/// A fed or fetched tensor: its position in the signature of the step, and its output in the partition.
struct PartitionEnd {
  uint32_t position = 0;
  Output output;
};

struct Partition {
  DeviceId device = 0;
  Graph graph;                 ///< in topological order: only back edges of loops come from later nodes
  std::vector<NodeId> origin;  ///< for each node, its id in the placed graph; no_node for added nodes
  /// The arguments of Plan::make, in the order of positions: fed outputs (of _Arg
  /// nodes) and fetched outputs (the inputs of the _Retval nodes, which are removed).
  std::vector<PartitionEnd> feeds, fetches;
};

/// Returns the partitions that have nodes, in the order of devices. Send and Recv nodes carry the names of
/// both devices and a name "edge_<n>_<source>" (attribute tensor_name), where n counts all pairs. A control
/// edge is sent as an empty tensor. If the reference of a variable crosses devices and the variable may be
/// written before its reader runs, the pair serves that reader only: its _Recv starts when the reader's other
/// inputs have arrived, and its _RefSend only announces the tensor, and reads the value when it is asked for.
///
/// If `lossy`, a float tensor that goes to another task is cast to bfloat16 before its Send and back after its Recv (I9, U1),
/// unless it lies in host memory at one of its ends.
///
/// Before the cut, control-flow ops are moved: a Switch to its data input, an Exit to its
/// source, and an Enter or NextIteration to its consumers if they share a device (I6).
///
/// Fails with InvalidArgument, naming op and node, for inputs from different frames, for a reference
/// or handle that would cross devices, and for a frame on several devices without LoopCond.
Result<std::vector<Partition>> partition(const Graph& graph, std::vector<DeviceId> device,
                                         std::span<const DeviceInfo> devices, bool lossy = false);

/// Returns the indices of the partitions of each task ("/job:worker/replica:0/task:1"), which are sent to its process together.
std::map<DeviceName, std::vector<size_t>> group_by_task(std::span<const Partition> partitions,
                                                        std::span<const DeviceInfo> devices);

}  // namespace troupe
