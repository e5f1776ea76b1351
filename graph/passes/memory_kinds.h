// MemoryKinds: which tensors of a placed graph are in host memory although their node runs on another device (features.md I4).
// The definitions of ops say so (ArgDef::on_host). Control-flow ops keep int32, bool and string tensors there,
// which are shapes, counters and predicates. Constants and feeds are there if nothing on their device needs them elsewhere. On a
// CPU there is one memory only. Used by the partitioner and by plans. One thread.
#pragma once

#include <span>

#include "graph/passes/placer.h"

namespace troupe {

/// Returns whether a node on a device with memory of its own takes input `index`, of this dtype, in host memory, or yields that
/// output there.
bool lies_on_host(const Node& node, size_t index, bool is_input, DType dtype);

/// Returns for each node of a graph whether it is a constant or a feed that no node on its device takes in the memory of the
/// device. `same_device` says whether two nodes run on one device.
std::vector<bool> host_sources(const Graph& graph, const std::function<bool(NodeId, NodeId)>& same_device);

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
  std::vector<bool> host_sources_;  ///< by node; empty if all devices are CPUs
};

}  // namespace troupe
