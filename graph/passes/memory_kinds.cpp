#include "graph/passes/memory_kinds.h"

#include "graph/build/signature.h"

namespace troupe {

bool MemoryKinds::output_on_host(Output output) const {
  return on_host(graph_.node(output.node), output.index, false, graph_.dtype(output), device_[output.node]);
}

bool MemoryKinds::input_on_host(NodeId id, size_t index, DeviceId device) const {
  const Node& node = graph_.node(id);
  return on_host(node, index, true, graph_.dtype(node.inputs[index]), device);
}

bool MemoryKinds::on_host(const Node& node, size_t index, bool is_input, DType dtype, DeviceId device) const {
  if (!has_own_memory(device)) return false;
  if (node.op->served_by != ServedBy::Step) return in_host_memory(node, index, is_input);
  const std::string& type = node.type();
  return dtype == DType::Int32 || dtype == DType::Bool || dtype == DType::String || type == "_Arg" ||
         type == "_Retval" || type == "_HostRecv" || type == "_HostSend";
}

}  // namespace troupe
