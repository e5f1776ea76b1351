#include "kernels/runtime/evaluate.h"

#include "kernels/runtime/kernel_run.h"

namespace troupe {
namespace {

Status check_inputs(const Graph& graph, const Node& node, std::span<const Tensor> inputs) {
  if (inputs.size() != node.inputs.size())
    return invalid_argument("the node has " + std::to_string(node.inputs.size()) + " inputs, but " +
                            std::to_string(inputs.size()) + " tensors were given");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype() != graph.dtype(node.inputs[i]))
      return invalid_argument("input " + std::to_string(i) + " is " +
                              std::string(name(graph.dtype(node.inputs[i]))) + ", but the given tensor is " +
                              inputs[i].signature());
  return {};
}

Result<std::vector<Tensor>> run(const OpLibrary& library, const Graph& graph, const Node& node,
                                std::span<const Tensor> inputs, DeviceContext& device, const StepInfo& step) {
  TROUPE_RETURN_IF_FAILED(check_inputs(graph, node, inputs));
  TROUPE_ASSIGN(const KernelDef* const def, library.kernels.find(node, "CPU"));
  TROUPE_ASSIGN(const auto kernel, def->prepare({graph, node, device}));
  std::vector<Slot> slots;
  for (const Tensor& input : inputs) slots.push_back(Slot::of(input));
  std::vector<Tensor> outputs(node.output_types.size());
  KernelContext context(node, slots.data(), slots.size(), outputs.data(), device, step, 0);
  TROUPE_RETURN_IF_FAILED(call_guarded([&] { return kernel->run(context); }));
  return outputs;
}

}  // namespace

Result<std::vector<Tensor>> evaluate(const OpLibrary& library, const Graph& graph, const Node& node,
                                     std::span<const Tensor> inputs, DeviceContext& device,
                                     const StepInfo& step) {
  auto outputs = run(library, graph, node, inputs, device, step);
  if (!outputs) return outputs.status().at_node(node.type(), node.name);
  return outputs;
}

}  // namespace troupe
