#include "graph/build/functions.h"

#include <algorithm>

namespace troupe {
namespace {

std::string text(const std::vector<DType>& types) {
  std::string out;
  for (const DType type : types) out += (out.empty() ? "" : ", ") + std::string(name(type));
  return '(' + out + ')';
}

std::vector<DType> types_of(const Scope& scope, const std::vector<Output>& values) {
  std::vector<DType> types;
  for (const Output& value : values) types.push_back(scope.dtype(value));
  return types;
}

void check_types(const std::string& function, const char* what, const std::vector<DType>& given,
                 const std::vector<DType>& expected) {
  if (given != expected)
    throw Error(invalid_argument(std::string(what) + " of function " + function + " have dtypes " +
                                 text(given) + ", expected " + text(expected)));
}

}  // namespace

bool has_effect(const OpDef& op) {
  return (op.effect == Effect::State || op.effect == Effect::Io) && op.served_by != ServedBy::Step;
}

bool is_call(const OpDef& op) { return op.name == "PartitionedCall" || op.name == "StatefulPartitionedCall"; }

const std::string& callee(const Node& call) { return call.attrs.get<FunctionName>("f").name; }

void add_functions(Graph& graph, const Graph& from) {
  for (const auto& [name, function] : from.functions())
    if (!graph.find_function(name)) throw_if_failed(graph.add_function(function));
}

std::set<const Function*> called_functions(const Graph& graph, NodeId first) {
  std::set<const Function*> called;
  std::vector<const Function*> waiting;
  const auto visit = [&](const Node& node) {
    for (const AttrDef& attr : node.op->attrs) {
      if (attr.kind != AttrKind::Function) continue;
      const Function* const function = graph.find_function(node.attrs.get<FunctionName>(attr.name).name);
      if (function && function->body && called.insert(function).second) waiting.push_back(function);
    }
  };
  for (const Node& node : graph.nodes().subspan(first)) visit(node);
  while (!waiting.empty()) {
    const Function* const function = waiting.back();
    waiting.pop_back();
    for (const Node& node : function->body->nodes()) visit(node);
  }
  return called;
}

Result<Function> make_function(std::string name, const Graph& body, const std::vector<NodeId>& arguments,
                               const std::vector<Output>& results, const std::vector<NodeId>& effects) {
  std::vector<NodeId> waiting = arguments;
  waiting.insert(waiting.end(), effects.begin(), effects.end());
  for (const Output& result : results) waiting.push_back(result.node);
  std::vector<bool> needed(body.size());
  while (!waiting.empty()) {
    const Node& node = body.node(waiting.back());
    waiting.pop_back();
    if (needed[node.id]) continue;
    needed[node.id] = true;
    for (const Output& input : node.inputs) waiting.push_back(input.node);
    waiting.insert(waiting.end(), node.control_inputs.begin(), node.control_inputs.end());
  }
  std::vector<NodeId> new_id(body.size());
  NodeId next = 0;
  for (NodeId id = 0; id < body.size(); ++id)
    if (needed[id]) new_id[id] = next++;
  Graph graph(body.ops());
  for (Node node : body.nodes()) {
    if (!needed[node.id]) continue;
    for (Output& input : node.inputs) input = {new_id[input.node], input.index};
    for (NodeId& control : node.control_inputs) control = new_id[control];
    graph.append(std::move(node));
  }
  Function function{std::move(name), nullptr, {}, {}};
  for (const NodeId argument : arguments) {
    const Node& node = graph.node(new_id[argument]);
    if (node.type() != "_Arg" ||
        node.attrs.get<int64_t>("index") != static_cast<int64_t>(function.arguments.size()))
      return invalid_argument("argument " + std::to_string(function.arguments.size()) + " of function " +
                              function.name + " is not the _Arg node of this number")
          .at_node(node.type(), node.name);
    function.arguments.push_back(node.id);
  }
  for (const Output& result : results) function.results.push_back({new_id[result.node], result.index});
  function.body = std::make_shared<const Graph>(std::move(graph));
  return function;
}

void define_function(Graph& graph, const FunctionSignature& signature, const FunctionBody& body) {
  if (graph.find_function(signature.name))
    throw Error(already_exists("function " + signature.name + " is defined twice"));
  Graph inside(graph.ops());
  add_functions(inside, graph);
  const Scope scope = Scope(inside).with_prefix(signature.name);
  std::vector<Output> arguments;
  for (const DType type : signature.arguments)
    arguments.push_back(
        scope.with_name("argument_" + std::to_string(arguments.size()))
            .add_one("_Arg", {}, {{"T", type}, {"index", static_cast<int64_t>(arguments.size())}}));
  const std::vector<Output> results = body(scope, arguments);
  check_types(signature.name, "the results", types_of(scope, results), signature.results);
  std::vector<NodeId> effects, nodes;
  for (const Node& node : inside.nodes()) {
    const bool is_effect = has_effect(*node.op);
    if ((is_effect || node.op->effect == Effect::Random) && !signature.stateful)
      throw Error(
          invalid_argument("function " + signature.name +
                           " is not declared stateful, but its body has an effect or draws random numbers")
              .at_node(node.type(), node.name));
    if (is_effect) effects.push_back(node.id);
  }
  for (const Output& argument : arguments) nodes.push_back(argument.node);
  auto function = make_function(signature.name, inside, nodes, results, effects);
  throw_if_failed(function.status());
  add_functions(graph, inside);  // gradient functions that the body needs
  throw_if_failed(graph.add_function(std::move(*function)));
}

std::vector<Output> call(const Scope& scope, const FunctionSignature& signature, std::vector<Output> inputs) {
  check_types(signature.name, "the inputs", types_of(scope, inputs), signature.arguments);
  const NodeId node = scope.add(
      signature.stateful ? "StatefulPartitionedCall" : "PartitionedCall", std::move(inputs),
      {{"f", FunctionName{signature.name}}, {"Tin", signature.arguments}, {"Tout", signature.results}});
  std::vector<Output> outputs;
  for (uint32_t i = 0; i < signature.results.size(); ++i) outputs.push_back(scope.graph().output(node, i));
  return outputs;
}

}  // namespace troupe
