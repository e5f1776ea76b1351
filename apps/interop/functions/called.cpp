// Calls of functions that call themselves: a node that calls the function when the step runs, and the function's body.
#include "apps/interop/functions/caller.h"
#include "apps/interop/functions/recursion.h"
#include "apps/interop/parse.h"
#include "graph/build/functions.h"

namespace troupe::interop {

Result<Caller::Instance> Caller::call(const Callee& callee, const std::string& part, Values inputs,
                                      std::optional<NodeId> start) {
  CalledFunctions& called = importer_.called();
  Site inside{nullptr, callee.function, {}, {}, {}, {}, {}, false};
  bind_attrs(callee, inside);
  TROUPE_RETURN_IF_FAILED(bind_arguments(callee, inputs, inside));
  Instance instance;
  std::vector<DType> arguments, results;
  for (const Output& input : inputs) arguments.push_back(graph_.dtype(input));
  for (const auto& output : callee.function->signature().output_arg()) {
    TROUPE_ASSIGN(const DType type, type_of_result(callee, output, inside));
    instance.outputs.arguments.emplace(output.name(), results.size());
    results.push_back(type);
  }
  instance.has_effects = called.is_stateful(*callee.function, importer_.library(), *graph_.ops());
  std::vector<NodeId> control;
  if (start) control.push_back(*start);
  TROUPE_ASSIGN(const NodeId node, add(instance.has_effects ? "StatefulPartitionedCall" : "PartitionedCall",
                                       part + "_call", {inputs.begin(), inputs.end()}, std::move(control),
                                       {{"f", FunctionName{called.name_of(*callee.function, inside.attrs)}},
                                        {"Tin", std::move(arguments)},
                                        {"Tout", results}}));
  for (uint32_t i = 0; i < results.size(); ++i) instance.outputs.values.push_back({node, i});
  if (instance.has_effects || results.empty()) instance.effects.push_back(node);
  return instance;
}

Result<Function> Caller::body_of(const std::string& name, const Callee& callee, Site& inside) {
  inside.function = callee.function;
  inside.prefix = name + '/';
  std::vector<NodeId> nodes;
  std::vector<Output> arguments;
  for (const auto& argument : callee.function->signature().input_arg()) {
    TROUPE_ASSIGN(const std::vector<DType> types, types_of_argument(callee, argument, inside));
    for (const DType type : types) {
      TROUPE_ASSIGN(const NodeId node,
                    importer_.add({inside.prefix + "_argument_" + std::to_string(nodes.size()),
                                   "_Arg",
                                   {{"T", type}, {"index", static_cast<int64_t>(nodes.size())}},
                                   {},
                                   {},
                                   {},
                                   {}}));
      nodes.push_back(node);
      arguments.push_back({node, 0});
    }
  }
  TROUPE_RETURN_IF_FAILED(bind_arguments(callee, arguments, inside));
  TROUPE_ASSIGN(const Body* const body, importer_.body_of(*callee.function));
  TROUPE_ASSIGN(const Placed placed, importer_.place(*body, inside));
  TROUPE_ASSIGN(const Outputs outputs, outputs_of(callee, *body, inside, placed));
  TROUPE_ASSIGN(const std::vector<NodeId> effects, effects_of(callee, *body, placed));
  return make_function(name, graph_, nodes, outputs.values, effects);
}

Status build_called_functions(Importer& importer) {
  CalledFunctions& called = importer.called();
  if (++called.depth > importer.limits().function_depth)
    return limit_exceeded("function_depth", static_cast<uint64_t>(importer.limits().function_depth));
  for (CalledFunctions::Instance next; called.next(next);) {
    Graph graph(importer.graph().ops());
    Importer inner(graph, importer);
    Site inside{nullptr, next.function, {}, {}, std::move(next.attrs), {}, {}, false};
    const Site none;
    const google::protobuf::RepeatedPtrField<AttrEntry> no_attrs;
    Caller caller(inner, NodeDef::default_instance(), {}, none);
    auto function = caller.body_of(next.name, {next.function, &no_attrs}, inside);
    if (!function) return function.status();
    called.done.push_back(std::move(*function));
    for (const auto& [name, gradient] : graph.functions()) called.done.push_back(gradient);
  }
  --called.depth;
  return add_called_functions(importer);
}

Status add_called_functions(Importer& importer) {
  Graph& graph = importer.graph();
  for (const Function& function : importer.called().done)
    if (!graph.find_function(function.name)) TROUPE_RETURN_IF_FAILED(graph.add_function(function));
  return {};
}

}  // namespace troupe::interop
