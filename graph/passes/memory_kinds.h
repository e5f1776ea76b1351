// Memory kinds: which tensors of a placed graph lie in host memory although their node runs on another device
// (features.md I4). Kernels say so themselves. The ops that the step carries out (control flow) keep int32,
// bool and string tensors there, which are shapes, counters and predicates, as well as feeds and fetches.
// Everything on a CPU is alike. Used by the partitioner alone.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/passes/placer.h"

namespace troupe {

/// Does the node's kernel on this type of device keep input (or output) `index` in host memory?
using InHostMemory =
    std::function<bool(const Node&, size_t index, bool is_input, std::string_view device_type)>;

class MemoryKinds {
 public:
  MemoryKinds(const Graph& graph, std::span<const DeviceId> device, std::span<const DeviceInfo> devices,
              const InHostMemory& in_host_memory)
      : graph_(graph), device_(device), devices_(devices), in_host_memory_(in_host_memory) {}

  /// A CPU has no other memory, so nothing there counts as being on the host.
  bool has_own_memory(DeviceId device) const { return devices_[device].name.type != "CPU"; }
  bool output_on_host(Output output) const;
  /// For a node, or a copy of it, that runs on `device`.
  bool input_on_host(NodeId node, size_t index, DeviceId device) const;

 private:
  bool on_host(const Node& node, size_t index, bool is_input, DType dtype, DeviceId device) const;

  const Graph& graph_;
  std::span<const DeviceId> device_;
  std::span<const DeviceInfo> devices_;
  const InHostMemory& in_host_memory_;
};

}  // namespace troupe
