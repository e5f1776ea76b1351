#include "graph/passes/partition/spread_constants.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "graph/passes/partition/memory_kinds.h"

namespace troupe {
namespace {

bool has_own_memory(const DeviceInfo& device) { return device.name.type != "CPU"; }

/// Where a node takes a constant.
struct Place {
  DeviceId device = no_device;
  bool host = true;  ///< always true on a CPU
  auto operator<=>(const Place&) const = default;
};

class Spreading {
 public:
  Spreading(Graph& graph, std::vector<DeviceId>& device, std::span<const DeviceInfo> devices)
      : graph_(graph), device_(device), devices_(devices) {}

  Status run() {
    const size_t count = graph_.size();
    for (NodeId id = 0; id < count; ++id)
      for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
        const NodeId source = graph_.node(id).inputs[i].node;
        if (graph_.node(source).type() == "Const") TROUPE_RETURN_IF_FAILED(serve(id, i, source));
      }
    return {};
  }

 private:
  /// Makes the input come from a constant that no other place takes.
  Status serve(NodeId reader, size_t input, NodeId constant) {
    const Place place = place_of(reader, input);
    const auto [first, is_first] = first_.try_emplace(constant, place);
    if (is_first) device_[constant] = moved(constant, place);
    if (first->second == place || !needs_copy(first->second, place)) return {};
    const auto [copy, is_new] = copies_.try_emplace({constant, place});
    if (is_new) {
      TROUPE_ASSIGN(copy->second, copied(constant, place.device));
    }
    return graph_.replace_input(reader, input, Output{copy->second, 0});
  }

  Place place_of(NodeId reader, size_t input) const {
    const Node& node = graph_.node(reader);
    const bool own_memory = has_own_memory(devices_[device_[reader]]);
    return {device_[reader],
            !own_memory || lies_on_host(node, input, true, graph_.dtype(node.inputs[input]))};
  }

  bool needs_copy(const Place& a, const Place& b) const {
    return has_own_memory(devices_[a.device]) || has_own_memory(devices_[b.device]);
  }

  /// Returns the device of a constant whose first reader is at `place`: that of the reader if one of both has memory of its own.
  DeviceId moved(NodeId constant, const Place& place) const {
    const DeviceId now = device_[constant];
    return graph_.node(constant).control_inputs.empty() && needs_copy({now, true}, place) ? place.device
                                                                                          : now;
  }

  Result<NodeId> copied(NodeId constant, DeviceId device) {
    const Node& node = graph_.node(constant);
    NodeSpec spec;
    spec.op = node.type();
    spec.name = graph_.unique_name(node.name);
    spec.attrs = node.attrs;
    spec.control_inputs = node.control_inputs;
    TROUPE_ASSIGN(const NodeId copy, graph_.add(std::move(spec)));
    device_.push_back(device);
    return copy;
  }

  Graph& graph_;
  std::vector<DeviceId>& device_;
  const std::span<const DeviceInfo> devices_;
  std::map<NodeId, Place> first_;  ///< for each constant, the place that the constant itself serves
  std::map<std::pair<NodeId, Place>, NodeId> copies_;
};

}  // namespace

Status spread_constants(Graph& graph, std::vector<DeviceId>& device, std::span<const DeviceInfo> devices) {
  if (std::ranges::none_of(devices, has_own_memory)) return {};
  return Spreading(graph, device, devices).run();
}

}  // namespace troupe
