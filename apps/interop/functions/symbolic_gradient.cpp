// SymbolicGradient(inputs..., gradients of outputs...): the gradients of the inputs of a function. The nodes of the function are
// added once more, and then those of its gradients; if the file declares a gradient function, it is called instead.
#include "apps/interop/functions/caller.h"
#include "graph/build/flow_context.h"
#include "graph/build/gradients.h"

namespace troupe::interop {
namespace {

/// The context of the gradients of a call. All of its inputs are where the call is, in a loop for example, so that the only nodes
/// that could be elsewhere are those without inputs: they wait for the start of the call.
class CallContext final : public FlowContext {
 public:
  explicit CallContext(NodeId start) : FlowContext(nullptr) { set_pivot(start); }

 private:
  Output make_import(Output outside) override { return outside; }
  std::optional<NodeId> wait(NodeId outside) override { return outside; }
  bool needs_pivot(const NodeSpec& spec) const override {
    return spec.inputs.empty() && spec.control_inputs.empty();
  }
};

}  // namespace

Result<PlacedCall> Caller::symbolic_gradient() {
  TROUPE_ASSIGN(const Callee callee, callee_of("f"));
  if (const FunctionDef* declared = importer_.library().find_gradient(callee.name())) {
    const int inputs = callee.function->signature().input_arg_size(),
              outputs = declared->signature().output_arg_size();
    if (inputs == outputs) return plain_call({declared, callee.attrs});
    return invalid_argument("function " + declared->signature().name() + ", the gradient of " +
                            callee.name() + ", yields " + std::to_string(outputs) + " values for " +
                            std::to_string(inputs) + " inputs");
  }
  TROUPE_ASSIGN(const std::vector<Output> found, differentiate(callee));
  Outputs outputs{{}, {{"output", 0}}};
  for (size_t i = 0; i < found.size(); ++i) {
    TROUPE_ASSIGN(const Output value, add_one("Identity", output_name(i, found.size()), {found[i]}));
    outputs.values.push_back(value);
  }
  return finish(std::move(outputs), false);
}

Result<std::vector<Output>> Caller::differentiate(const Callee& callee) {
  const auto inputs = static_cast<size_t>(callee.function->signature().input_arg_size());
  if (inputs > spec_.inputs.size())
    return invalid_argument("function " + callee.name() + " takes " + std::to_string(inputs) +
                            " inputs, but there are " + std::to_string(spec_.inputs.size()));
  TROUPE_ASSIGN(const auto start, start_of_call());
  std::vector<Output> arguments;  // one node for each, because the same tensor may be two inputs
  for (size_t i = 0; i < inputs; ++i) {
    TROUPE_ASSIGN(const Output argument,
                  add_one("Identity", "_argument_" + std::to_string(i), {spec_.inputs[i]}));
    arguments.push_back(argument);
  }
  TROUPE_ASSIGN(const Instance instance, instantiate(callee, "_function/", arguments, start));
  const auto& values = instance.outputs.values;
  if (inputs + values.size() != spec_.inputs.size())
    return invalid_argument("function " + callee.name() + " takes " + std::to_string(inputs) +
                            " inputs and yields " + std::to_string(values.size()) +
                            " values, so its gradient takes " + std::to_string(inputs + values.size()) +
                            " inputs, got " + std::to_string(spec_.inputs.size()));
  std::vector<Output> ys;
  std::vector<Gradient> gradients_of_ys;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_floating(graph_.dtype(values[i])) && !is_complex(graph_.dtype(values[i]))) continue;
    ys.push_back(values[i]);
    gradients_of_ys.emplace_back(spec_.inputs[inputs + i]);
  }
  TROUPE_RETURN_IF_FAILED(build_called_functions(importer_));  // their gradients may be needed
  Scope scope = Scope(graph_).with_prefix(spec_.name + "/_gradients").with_device(spec_.device);
  if (start) scope = scope.in_context(std::make_shared<CallContext>(*start));
  try {
    const std::vector<Gradient> found = gradients(scope, ys, arguments, gradients_of_ys);
    std::vector<Output> result;
    for (size_t i = 0; i < inputs; ++i) result.push_back(dense(scope, found[i], arguments[i]));
    return result;
  } catch (const Error& error) {
    return error.status();
  }
}

}  // namespace troupe::interop
