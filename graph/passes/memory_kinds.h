// MemoryKinds: which tensors of a placed graph are in host memory although their node runs on another device (features.md I4).
// The definitions of ops say so (ArgDef::on_host). Control-flow ops keep int32, bool and string tensors there, which are shapes,
// counters and predicates; so do feeds and fetches. On a CPU there is one memory only. Used by the partitioner only. One thread.
#pragma once

#include <span>

#include "graph/passes/placer.h"

namespace troupe {

class MemoryKinds {
 public:
  MemoryKinds(const Graph& graph, std::span<const DeviceId> device, std::span<const DeviceInfo> devices)
      : graph_(graph), device_(device), devices_(devices) {}

  /// Returns false for CPUs: they have no memory but that of the host, so none of their tensors counts as being on the host.
  bool has_own_memory(DeviceId device) const { return devices_[device].name.type != "CPU"; }
  bool output_on_host(Output output) const;
  /// For a node, or a copy of it, on `device`.
  bool input_on_host(NodeId node, size_t index, DeviceId device) const;

 private:
  bool on_host(const Node& node, size_t index, bool is_input, DType dtype, DeviceId device) const;

  const Graph& graph_;
  std::span<const DeviceId> device_;
  std::span<const DeviceInfo> devices_;
};

}  // namespace troupe
