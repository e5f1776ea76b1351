// Functions of the program (graph/build/host_function.h), which run on the host (features.md B12):
//   PyFunc(input...)            what the function named by `token` returns for the inputs
//   PyFuncStateless(input...)   the same for a function without state
// The names are TensorFlow's.
#include <algorithm>

#include "devices/flush_denormals.h"
#include "graph/build/gradients.h"
#include "graph/build/host_functions.h"
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Result<std::vector<Tensor>> call(const HostFunction& function, KernelContext& context) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < context.inputs(); ++i) inputs.push_back(context.input(i));
  const KeepDenormals as_elsewhere_in_the_program;
  try {
    return function(inputs);
  } catch (const Error& error) {
    return error.status();
  }
}

Status check_results(const std::vector<Tensor>& results, const Node& node) {
  const auto& types = node.output_types;
  if (results.size() != types.size())
    return invalid_argument("the function returned " + std::to_string(results.size()) +
                            " values; it must return " + std::to_string(types.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    if (!results[i].valid()) return invalid_argument("the function returned no value " + std::to_string(i));
    if (results[i].dtype() != types[i].dtype)
      return invalid_argument("value " + std::to_string(i) + " of the function is " + results[i].signature() +
                              "; its dtype must be " + std::string(name(types[i].dtype)));
  }
  return {};
}

Status run_host_function(KernelContext& context) {
  const auto& token = context.node().attrs.get<std::string>("token");
  const auto entry = host_functions().find(token);
  if (!entry)
    return invalid_argument(
        "this process has no function '" + token +
        "', or has dropped it: a function runs only in the process that has added its node");
  TROUPE_ASSIGN(std::vector<Tensor> results, call(entry->call.compute, context));
  TROUPE_RETURN_IF_FAILED(check_results(results, context.node()));
  for (size_t i = 0; i < results.size(); ++i) context.set_output(i, std::move(results[i]));
  return {};
}

bool has_gradient(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

void host_function_gradient(GradientContext& context) {
  const auto entry = host_functions().find(context.attr<std::string>("token"));
  if (!entry || entry->call.gradient.empty()) return;
  const Graph& graph = context.scope().graph();
  const Node node = context.node();
  std::vector<Output> arguments;
  std::vector<size_t> inputs;
  std::vector<DType> dtypes;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    arguments.push_back(context.input(i));
    const DType dtype = graph.dtype(context.input(i));
    if (!has_gradient(dtype)) continue;
    inputs.push_back(i);
    dtypes.push_back(dtype);
  }
  for (size_t i = 0; i < node.output_types.size(); ++i)
    if (has_gradient(node.output_types[i].dtype)) arguments.push_back(context.gradient(i));
  const NodeId gradient = context.scope().add(node.type(), std::move(arguments),
                                              {{"token", entry->call.gradient}, {"Tout", dtypes}});
  for (size_t i = 0; i < inputs.size(); ++i)
    context.set(inputs[i],
                context.scope().add_one(
                    "PreventGradient", {graph.output(gradient, static_cast<uint32_t>(i))},
                    {{"message", std::string("the gradient of a function of the program has none itself")}}));
}

OpDefBuilder host_function_op(const char* name) {
  OpDefBuilder op(name);
  op.host_input("input: Tin")
      .host_output("output: Tout")
      .attr("token: string")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .shape(unknown_shape)
      .gradient(host_function_gradient);
  return op;
}

}  // namespace

void add_host_functions(OpLibrary& library) {
  library.op(host_function_op("PyFunc").effect(Effect::State));
  library.op(host_function_op("PyFuncStateless"));
  for (const char* op : {"PyFunc", "PyFuncStateless"}) library.kernel(host_kernel(op, run_host_function));
}

}  // namespace troupe
