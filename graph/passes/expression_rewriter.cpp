#include "graph/passes/expression_rewriter.h"

#include <algorithm>

namespace troupe {

std::optional<Output> ExpressionRewriter::argument(std::string_view function, Output output) const {
  const Node* const node = inner(function, output);
  return node ? std::optional(node->inputs[0]) : std::nullopt;
}

const Node* ExpressionRewriter::inner(std::string_view op, Output output) const {
  const Node& node = draft_.node(output.node);
  // The expression that replaces this one reads its inputs later than this node does. A variable may have changed until then.
  const bool reads_variable =
      std::ranges::any_of(node.inputs, [&](Output input) { return draft_.type(input).is_ref; });
  const bool fits = node.type() == op && node.control_inputs.empty() && node.device == outermost().device &&
                    node.output_types.size() == 1 && !reads_variable;
  return fits ? &node : nullptr;
}

bool ExpressionRewriter::become(const char* op, std::vector<Output> inputs, Attributes attrs) {
  Node& node = draft_.nodes[outermost_];
  node.attrs = std::move(attrs);
  set_type(node, op, node.output_types[0].dtype);
  change(node, op, std::move(inputs));
  return true;
}

Output ExpressionRewriter::add(const char* op, std::vector<Output> inputs, DType dtype, PartialShape shape,
                               Attributes attrs) {
  Node node;
  node.attrs = std::move(attrs);
  set_type(node, op, dtype);
  node.output_types = {{dtype, false}};
  node.output_shapes = {std::move(shape)};
  return append(std::move(node), op, std::move(inputs));
}

Output ExpressionRewriter::add_constant(Tensor value) {
  Node node;
  node.output_types = {{value.dtype(), false}};
  node.output_shapes = {PartialShape(value.shape())};
  const DType dtype = value.dtype();
  node.attrs = {{"dtype", dtype}, {"value", std::move(value)}};
  return append(std::move(node), "Const", {});
}

void ExpressionRewriter::set_type(Node& node, const char* op, DType dtype) const {
  if (ops_.find(op)->find_attr("T")) node.attrs.set("T", dtype);
}

Output ExpressionRewriter::append(Node node, const std::string& op, std::vector<Output> inputs) {
  change(node, op, std::move(inputs));
  node.id = static_cast<NodeId>(draft_.nodes.size());
  node.name = names_.unique(outermost().name + '/' + op);
  node.device = outermost().device;
  node.colocate_with = outermost().colocate_with;
  draft_.nodes.push_back(std::move(node));
  origin_.push_back(origin_[outermost_]);
  return {draft_.nodes.back().id, 0};
}

void ExpressionRewriter::change(Node& node, const std::string& op, std::vector<Output> inputs) const {
  node.op = ops_.find(op);
  node.expects_ref.assign(inputs.size(), false);
  node.inputs = std::move(inputs);
}

}  // namespace troupe
