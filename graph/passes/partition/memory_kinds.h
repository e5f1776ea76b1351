// MemoryKinds: which tensors of a placed graph are in host memory although their node runs on another device (features.md I4).
// The definitions of ops say so (ArgDef::on_host), and arithmetic with integers is done there (host_integers.h). Control-flow ops
// keep int32, bool and string tensors there, which are shapes, counters and predicates. Constants and feeds are there if a node
// on their device takes them there, or none needs them elsewhere. Nodes that pass on their input leave it where it lies. On a CPU
// there is one memory only. Used by the partitioner and by plans. One thread.
#pragma once

#include <span>

#include "graph/passes/place/placer.h"

namespace troupe {

/// Returns whether a node on a device with memory of its own takes input `index`, of this dtype, in host memory, or yields that
/// output there. The answer means nothing for nodes that pass on their input (host_integers.h).
bool lies_on_host(const Node& node, size_t index, bool is_input, DType dtype);

/// Returns for each node of a graph whether it is a constant, a feed, or a node that passes on its input, whose output lies in host
/// memory. `same_device` says whether two nodes run on one device.
std::vector<bool> find_host_values(const Graph& graph,
                                   const std::function<bool(NodeId, NodeId)>& same_device);

class MemoryKinds {
 public:
  MemoryKinds(const Graph& graph, std::span<const DeviceId> device, std::span<const DeviceInfo> devices);

  /// Returns false for CPUs: they have no memory but that of the host, so none of their tensors counts as being on the host.
  bool has_own_memory(DeviceId device) const { return devices_[device].name.type != "CPU"; }
  bool output_on_host(Output output) const;
  /// For a node, or a copy of it, on `device`.
  bool input_on_host(NodeId node, size_t index, DeviceId device) const;

 private:
  const Graph& graph_;
  std::span<const DeviceId> device_;
  std::span<const DeviceInfo> devices_;
  std::vector<bool> host_values_;  ///< by node; empty if all devices are CPUs
};

}  // namespace troupe
