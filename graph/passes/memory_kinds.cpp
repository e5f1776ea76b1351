#include "graph/passes/memory_kinds.h"

#include <algorithm>

#include "graph/build/signature.h"

namespace troupe {
namespace {

bool is_source(const Node& node) { return node.type() == "Const" || node.type() == "_Arg"; }

/// A step returns what it fetches from wherever it lies.
bool is_fetch(const Node& node) { return node.type() == "_Retval"; }

}  // namespace

bool lies_on_host(const Node& node, size_t index, bool is_input, DType dtype) {
  if (is_local(dtype)) return true;
  if (node.op->served_by != ServedBy::Step) return in_host_memory(node, index, is_input);
  const std::string& type = node.type();
  if (type == "_Recv" || type == "_Send") return false;
  return dtype == DType::Int32 || dtype == DType::Bool || dtype == DType::String || type == "_HostRecv" ||
         type == "_HostSend";
}

std::vector<bool> host_sources(const Graph& graph, const std::function<bool(NodeId, NodeId)>& same_device) {
  std::vector<bool> result(graph.size());
  for (const Node& node : graph.nodes()) result[node.id] = is_source(node);
  for (const Node& node : graph.nodes()) {
    if (node.type() == "_Send" || is_fetch(node)) continue;  // they take what lies on the host, too
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Output input = node.inputs[i];
      if (result[input.node] && same_device(input.node, node.id) &&
          !lies_on_host(node, i, true, graph.dtype(input)))
        result[input.node] = false;
    }
  }
  return result;
}

MemoryKinds::MemoryKinds(const Graph& graph, std::span<const DeviceId> device,
                         std::span<const DeviceInfo> devices)
    : graph_(graph), device_(device), devices_(devices) {
  const auto has_memory = [&](DeviceId id) { return id != no_device && has_own_memory(id); };
  if (std::ranges::any_of(device, has_memory))
    host_sources_ = host_sources(graph, [&](NodeId a, NodeId b) { return device[a] == device[b]; });
}

bool MemoryKinds::output_on_host(Output output) const {
  if (!has_own_memory(device_[output.node])) return false;
  const Node& node = graph_.node(output.node);
  return is_source(node) ? host_sources_[node.id]
                         : lies_on_host(node, output.index, false, graph_.dtype(output));
}

bool MemoryKinds::input_on_host(NodeId id, size_t index, DeviceId device) const {
  if (!has_own_memory(device)) return false;
  const Node& node = graph_.node(id);
  if (is_fetch(node)) return device_[node.inputs[index].node] != device || output_on_host(node.inputs[index]);
  return lies_on_host(node, index, true, graph_.dtype(node.inputs[index]));
}

}  // namespace troupe
