#include "actors/services/variable/prepared_rule.h"

namespace troupe {
namespace {

Result<Output> add_placeholder(Graph& graph, const Graph& original, Output input, bool handle) {
  const EdgeType type = original.type(input);
  const char* const op = type.dtype == DType::Resource ? "VarHandleOp"
                         : handle                      ? "VariableV2"
                                                       : "Placeholder";
  const DType dtype =
      type.dtype == DType::Resource ? DType::Float : type.dtype;  // any dtype suits a resource
  NodeSpec spec;
  spec.name = graph.unique_name("input");
  spec.op = op;
  spec.attrs = {{"dtype", dtype}, {"shape", original.shape(input)}};
  TROUPE_ASSIGN(const NodeId id, graph.add(std::move(spec)));
  return Output{id, 0};
}

}  // namespace

Result<std::shared_ptr<UpdateRule>> prepare_rule(std::shared_ptr<const Graph> graph, const Node& node,
                                                 const KernelTable& kernels, Device& device) {
  TROUPE_ASSIGN(const KernelDef* def, kernels.find(node, device.type()));
  auto rule = std::make_shared<UpdateRule>();
  TROUPE_ASSIGN(rule->kernel, def->prepare({*graph, node, device.context()}));
  rule->graph = std::move(graph);
  rule->node = &node;
  return rule;
}

Result<RuleGraph> rule_graph(const Graph& original, const std::string& name, const std::string& op,
                             Attributes attrs, std::span<const Output> inputs, size_t handles) {
  auto graph = std::make_shared<Graph>(original.ops());
  NodeSpec spec;
  spec.op = op;
  spec.attrs = std::move(attrs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    TROUPE_ASSIGN(const Output input, add_placeholder(*graph, original, inputs[i], i < handles));
    spec.inputs.push_back(input);
  }
  spec.name = graph->unique_name(name);
  TROUPE_ASSIGN(const NodeId id, graph->add(std::move(spec)));
  const Node* const node = &graph->node(id);
  return RuleGraph{std::move(graph), node};
}

}  // namespace troupe
