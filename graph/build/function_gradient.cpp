// The gradient of a call (graph/build/functions.h). One thread at a time per graph.
#include <algorithm>
#include <set>

#include "graph/build/functions.h"
#include "graph/build/gradients.h"

namespace troupe {
namespace {

std::string gradient_name(const std::string& function) { return function + "/gradient"; }

/// Finds the dtypes of variables whose handles functions take: those of the nodes that read the variables.
class Handles {
 public:
  explicit Handles(const Graph& library) : library_(library) {}

  /// Returns the dtype of the variable behind argument `number`; Invalid if no node reads it.
  DType dtype_of(const Function& function, size_t number) {
    if (!seen_.insert({function.name, number}).second) return DType::Invalid;
    std::set<Output> handles = {{function.arguments[number], 0}};
    for (const Node& node : function.body->nodes())
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!handles.contains(node.inputs[i])) continue;
        const DType found = dtype_at(node, i);
        if (found != DType::Invalid) return found;
        for (uint32_t k = 0; k < node.output_types.size(); ++k)  // Switch, Identity, Enter, ...
          if (node.output_types[k].dtype == DType::Resource) handles.insert({node.id, k});
      }
    return DType::Invalid;
  }

 private:
  DType dtype_at(const Node& node, size_t input) {
    if (is_call(*node.op)) {
      const Function* const function = library_.find_function(callee(node));
      return function && function->body ? dtype_of(*function, input) : DType::Invalid;
    }
    const bool reads = node.type() == "ReadVariableOp" || node.type().starts_with("ResourceGather");
    const AttrValue* const dtype = reads && input == 0 ? node.attrs.find("dtype") : nullptr;
    const auto* const type = dtype ? std::get_if<DType>(dtype) : nullptr;
    return type && is_differentiable(*type) ? *type : DType::Invalid;
  }

  const Graph& library_;
  std::set<std::pair<std::string, size_t>> seen_;
};

/// What a gradient function computes: the arguments whose gradients it returns, with their dtypes, and the results whose gradients
/// it takes.
struct GradientSignature {
  std::vector<size_t> arguments, results;
  std::vector<DType> types;
};

GradientSignature signature_of(const Graph& library, const Function& function) {
  GradientSignature signature;
  const Graph& body = *function.body;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    DType type = body.dtype({function.arguments[i], 0});
    if (type == DType::Resource) type = Handles(library).dtype_of(function, i);
    if (!is_differentiable(type)) continue;
    signature.arguments.push_back(i);
    signature.types.push_back(type);
  }
  for (size_t i = 0; i < function.results.size(); ++i)
    if (is_differentiable(body.dtype(function.results[i]))) signature.results.push_back(i);
  return signature;
}

Output zeros_for(const Scope& scope, Output argument, DType type) {
  const bool is_handle = scope.dtype(argument) == DType::Resource;
  const Output value = is_handle ? scope.add_one("ReadVariableOp", {argument}, {{"dtype", type}}) : argument;
  return scope.add_one("ZerosLike", {value});
}

/// Adds the gradient function of a function to the graph's library.
void add_gradient_function(Graph& graph, const Function& function) {
  const std::string name = gradient_name(function.name);
  const GradientSignature signature = signature_of(graph, function);
  Graph body(graph.ops());
  add_functions(body, graph);
  // It has no body yet, but the calls inside need to know only that there will be one.
  throw_if_failed(body.add_function({name, nullptr, {}, {}}));
  for (const Node& node : function.body->nodes()) body.append(node);
  const Scope scope = Scope(body).with_prefix(function.name);
  std::vector<NodeId> arguments = function.arguments;
  std::vector<Output> ys, xs;
  std::vector<Gradient> gradients_of_ys;
  for (const size_t i : signature.results) {
    const Attributes attrs = {{"T", body.dtype(function.results[i])},
                              {"index", static_cast<int64_t>(arguments.size())}};
    const Output gradient =
        scope.with_name("gradient_of_result_" + std::to_string(i)).add_one("_Arg", {}, attrs);
    arguments.push_back(gradient.node);
    ys.push_back(body.output(function.results[i].node, function.results[i].index));
    gradients_of_ys.emplace_back(gradient);
  }
  for (const size_t i : signature.arguments) xs.push_back(body.output(function.arguments[i], 0));
  const std::vector<Gradient> found = gradients(scope, ys, xs, gradients_of_ys);
  std::vector<Output> results;
  for (size_t i = 0; i < xs.size(); ++i)
    results.push_back(std::holds_alternative<std::monostate>(found[i])
                          ? zeros_for(scope, xs[i], signature.types[i])
                          : dense(scope, found[i], xs[i]));
  auto made = make_function(name, body, arguments, results, {});
  throw_if_failed(made.status());
  for (const auto& [added, other] : body.functions())
    if (other.body && !graph.find_function(added)) throw_if_failed(graph.add_function(other));
  throw_if_failed(graph.add_function(std::move(*made)));
}

}  // namespace

void call_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  Graph& graph = scope.graph();
  const std::string op = context.node().type(), name = context.node().name;
  const std::vector<Output> arguments = context.node().inputs;
  const std::string function_name = callee(context.node());
  const Function* const function = graph.find_function(function_name);
  if (!function || !function->body)
    throw Error(failed_precondition("the gradient of a call of function " + function_name +
                                    " needs the function, which is not defined yet")
                    .at_node(op, name));
  const GradientSignature signature = signature_of(graph, *function);
  if (!graph.find_function(gradient_name(function_name))) add_gradient_function(graph, *function);
  std::vector<DType> types = context.attr<std::vector<DType>>("Tin");
  std::vector<Output> inputs = arguments;
  for (const size_t i : signature.results) {
    inputs.push_back(context.gradient(i));
    types.push_back(scope.dtype(inputs.back()));
  }
  const NodeId node = scope.add(op, std::move(inputs),
                                {{"f", FunctionName{gradient_name(function_name)}},
                                 {"Tin", std::move(types)},
                                 {"Tout", signature.types},
                                 {std::string(called_as_attr), name}});
  for (uint32_t i = 0; i < signature.arguments.size(); ++i)
    context.set(signature.arguments[i], graph.output(node, i));
}

}  // namespace troupe
