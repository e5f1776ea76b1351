#include "graph/passes/partition/memory_kinds.h"

#include <algorithm>

#include "graph/build/host_integers.h"
#include "graph/build/signature.h"

namespace troupe {
namespace {

bool is_source(const Node& node) { return node.type() == "Const" || node.type() == "_Arg"; }

/// A step returns what it fetches from wherever it lies.
bool is_fetch(const Node& node) { return node.type() == "_Retval"; }

}  // namespace

bool lies_on_host(const Node& node, size_t index, bool is_input, DType dtype) {
  if (is_local(dtype)) return true;
  if (node.op->served_by != ServedBy::Step)
    return computes_integers_on_host(node) || in_host_memory(node, index, is_input);
  const std::string& type = node.type();
  if (type == "_Recv" || type == "_Send") return false;
  return dtype == DType::Int32 || dtype == DType::Bool || dtype == DType::String || type == "_HostRecv" ||
         type == "_HostSend";
}

namespace {

/// Finds out where the values lie that lie where others want them.
class HostValues {
 public:
  using SameDevice = std::function<bool(NodeId, NodeId)>;
  HostValues(const Graph& graph, const SameDevice& same_device)
      : graph_(graph), same_device_(same_device), wanted_(graph.size()), on_host_(graph.size()) {}

  std::vector<bool> find() && {
    while (collect_wishes()) {
    }
    for (const Node& node : graph_.nodes())
      on_host_[node.id] = is_source(node) && (wanted_[node.id].on_host || !wanted_[node.id].on_device);
    while (pass_on()) {
    }
    return std::move(on_host_);
  }

 private:
  /// Where nodes on the device take a value.
  struct Wanted {
    bool on_host = false, on_device = false;
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };

  /// Collects them for sources and nodes that pass on, which pass on the wishes, too. Returns whether there was a new one.
  bool collect_wishes() {
    bool changed = false;
    for (const Node& node : graph_.nodes()) {
      if (node.type() == "_Send" || is_fetch(node)) continue;  // they take a value from wherever it lies
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const NodeId from = node.inputs[i].node;
        if (!lies_where_wanted(graph_.node(from)) || !same_device_(from, node.id)) continue;
        Wanted& known = wanted_[from];
        const Wanted before = known;
        if (i == 0 && passes_on(node)) {
          known.on_host |= wanted_[node.id].on_host;
          known.on_device |= wanted_[node.id].on_device;
        } else {
          const bool on_host = lies_on_host(node, i, true, graph_.dtype(node.inputs[i]));
          (on_host ? known.on_host : known.on_device) = true;
        }
        changed |= !(known == before);
      }
    }
    return changed;
  }

  /// Returns whether a node was found that passes on a value in host memory.
  bool pass_on() {
    bool changed = false;
    for (const Node& node : graph_.nodes()) {
      if (on_host_[node.id] || !passes_on(node) || !same_device_(node.inputs[0].node, node.id)) continue;
      const Output input = node.inputs[0];
      const Node& from = graph_.node(input.node);
      on_host_[node.id] = lies_where_wanted(from)
                              ? on_host_[from.id]
                              : lies_on_host(from, input.index, false, graph_.dtype(input));
      changed |= on_host_[node.id];
    }
    return changed;
  }

  static bool lies_where_wanted(const Node& node) { return is_source(node) || passes_on(node); }

  const Graph& graph_;
  const SameDevice& same_device_;
  std::vector<Wanted> wanted_;
  std::vector<bool> on_host_;
};

}  // namespace

std::vector<bool> find_host_values(const Graph& graph,
                                   const std::function<bool(NodeId, NodeId)>& same_device) {
  return HostValues(graph, same_device).find();
}

MemoryKinds::MemoryKinds(const Graph& graph, std::span<const DeviceId> device,
                         std::span<const DeviceInfo> devices)
    : graph_(graph), device_(device), devices_(devices) {
  const auto has_memory = [&](DeviceId id) { return id != no_device && has_own_memory(id); };
  if (std::ranges::any_of(device, has_memory))
    host_values_ = find_host_values(graph, [&](NodeId a, NodeId b) { return device[a] == device[b]; });
}

bool MemoryKinds::output_on_host(Output output) const {
  if (!has_own_memory(device_[output.node])) return false;
  const Node& node = graph_.node(output.node);
  return is_source(node) || passes_on(node) ? host_values_[node.id]
                                            : lies_on_host(node, output.index, false, graph_.dtype(output));
}

bool MemoryKinds::input_on_host(NodeId id, size_t index, DeviceId device) const {
  if (!has_own_memory(device)) return false;
  const Node& node = graph_.node(id);
  if (is_fetch(node)) return device_[node.inputs[index].node] != device || output_on_host(node.inputs[index]);
  if (index == 0 && passes_on(node) && device_[id] == device) return host_values_[id];
  return lies_on_host(node, index, true, graph_.dtype(node.inputs[index]));
}

}  // namespace troupe
