#include "kernels/runtime/pure_function.h"

#include <algorithm>

#include "graph/build/frames.h"
#include "kernels/runtime/evaluate.h"

namespace troupe {
namespace {

bool is_argument(const Node& node) { return node.type() == "_Arg"; }

/// Fails unless the node can be computed when the nodes before it have been.
Status check(const Node& node, const KernelTable& kernels) {
  if (is_argument(node)) return {};
  const bool is_pure = node.op->effect == Effect::Pure || node.op->effect == Effect::Guard;
  const bool is_ordered =
      std::ranges::all_of(node.inputs, [&](const Output& input) { return input.node < node.id; });
  if (!is_pure || node.op->served_by != ServedBy::Kernel || flow_kind(node) != FlowKind::None || !is_ordered)
    return invalid_argument(
        "this op cannot be part of a function that is computed outside steps; allowed: ops with kernels, "
        "without "
        "effects and random numbers, and neither loops, conditions nor calls of functions");
  return kernels.find(node, "CPU").status();
}

Status check_arguments(const Function& function, std::span<const Tensor> arguments) {
  if (arguments.size() != function.arguments.size())
    return invalid_argument("function " + function.name + " takes " +
                            std::to_string(function.arguments.size()) + " arguments, but is given " +
                            std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const DType wanted = function.body->dtype({function.arguments[i], 0});
    if (arguments[i].dtype() != wanted)
      return invalid_argument("argument " + std::to_string(i) + " of function " + function.name + " is " +
                              arguments[i].signature() + ", but must be " + std::string(name(wanted)));
  }
  return {};
}

}  // namespace

Result<PureFunction> PureFunction::prepare(Function function, const OpLibrary& library) {
  for (const Node& node : function.body->nodes())
    if (Status status = check(node, library.kernels); !status.ok())
      return std::move(status).at_node(node.type(), node.name);
  return PureFunction(std::move(function), library);
}

Result<std::vector<Tensor>> PureFunction::compute(std::span<const Tensor> arguments,
                                                  DeviceContext& device) const {
  TROUPE_RETURN_IF_FAILED(check_arguments(function_, arguments));
  const Graph& body = *function_.body;
  std::vector<std::vector<Tensor>> outputs(body.size());
  for (size_t i = 0; i < arguments.size(); ++i) outputs[function_.arguments[i]] = {arguments[i]};
  for (const Node& node : body.nodes()) {
    if (is_argument(node)) continue;
    std::vector<Tensor> inputs;
    for (const Output& input : node.inputs) inputs.push_back(outputs[input.node][input.index]);
    TROUPE_ASSIGN(outputs[node.id], evaluate(*library_, body, node, inputs, device));
  }
  std::vector<Tensor> results;
  for (const Output& result : function_.results) results.push_back(outputs[result.node][result.index]);
  return results;
}

}  // namespace troupe
