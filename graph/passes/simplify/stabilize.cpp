#include "graph/passes/simplify/stabilize.h"

#include "graph/passes/expression_rewriter.h"
#include "graph/passes/simplify/simplify_rules.h"
#include "graph/passes/simplify/symbolic_shapes.h"

namespace troupe {
namespace {

class Stabilizer : ExpressionRewriter {
 public:
  Stabilizer(GraphDraft& draft, std::vector<NodeId>& origin, std::span<const NodeId> order,
             const OpTable& ops)
      : ExpressionRewriter(draft, origin, ops), order_(order), shapes_(draft, order) {}

  /// Returns the number of expressions that were replaced.
  size_t run() {
    size_t replaced = 0;
    for (const NodeId id : order_) {
      const Node& node = draft_.node(id);
      if (node.output_types.size() != 1 || !is_floating(node.output_types[0].dtype)) continue;
      look_at(id);
      if (replace()) ++replaced;
    }
    return replaced;
  }

 private:
  bool replace() {
    const Node& node = outermost();
    const std::string& op = node.type();
    if (op == "Log") return replace_log(node.inputs[0]);
    if (op == "Log1p") return replace_softplus(node.inputs[0]);
    if (op == "Sub") return replace_expm1(node);
    if (op == "SigmoidGrad") return replace_log_sigmoid_gradient(node.inputs[0], node.inputs[1]);
    if (op != "Mul") return false;
    for (const size_t side : {0, 1}) {
      const Output x = node.inputs[side], y = node.inputs[1 - side];
      if (replace_log_softmax_gradient(x, y) || replace_softplus_gradient(x, y)) return true;
    }
    return false;
  }

  bool replace_log(Output of) {
    if (const auto x = argument("Softmax", of)) return become("LogSoftmax", {*x});
    if (const auto x = argument("Sigmoid", of))
      return become("Neg", {add("Softplus", {add("Neg", {*x}, *x)}, *x)});
    const auto before = minus_one(of);
    return before && (replace_softplus(*before) || become("Log1p", {*before}));
  }

  /// For Log1p(y).
  bool replace_softplus(Output y) {
    const auto x = argument("Exp", y);
    return x && become("Softplus", {*x});
  }

  bool replace_expm1(const Node& node) {
    const auto power = operand_beside(draft_, node, 1, 1);
    const auto x = power ? argument("Exp", *power) : std::nullopt;
    return x && become("Expm1", {*x});
  }

  /// For SigmoidGrad(s, d).
  bool replace_log_sigmoid_gradient(Output s, Output d) {
    const auto x = argument("Sigmoid", s);
    const auto quotient = quotient_of(d);
    if (!x || !quotient || quotient->divisor != s) return false;
    return become("Mul", {quotient->dividend, add("Sigmoid", {add("Neg", {*x}, *x)}, *x)});
  }

  /// For (d - sum) s.
  bool replace_log_softmax_gradient(Output difference, Output s) {
    const Node* const subtraction = inner("Sub", difference);
    if (!subtraction || !inner("Softmax", s)) return false;
    const Output d = subtraction->inputs[0];
    const auto quotient = quotient_of(d);
    const Node* const sum = inner("Sum", subtraction->inputs[1]);
    if (!quotient || quotient->divisor != s || !sum || !sum->attrs.get<bool>("keep_dims")) return false;
    const Node* const product = inner("Mul", sum->inputs[0]);
    if (!product || !is_pair(*product, d, s)) return false;
    const Output g = quotient->dividend, axes = sum->inputs[1];
    const Output total = add_like(*sum, {g, axes});
    return become("Sub", {g, add("Mul", {s, total}, s)});
  }

  /// For d e.
  bool replace_softplus_gradient(Output d, Output e) {
    const auto x = argument("Exp", e);
    const auto quotient = quotient_of(d);
    if (!x || !quotient || minus_one(quotient->divisor) != e) return false;
    return become("SoftplusGrad", {quotient->dividend, *x});
  }

  struct Quotient {
    Output dividend, divisor;
  };
  /// Takes x / y or x (1 / y) apart, if x and y have the same shape.
  std::optional<Quotient> quotient_of(Output output) const {
    for (const char* const op : {"Div", "RealDiv"})
      if (const Node* const node = inner(op, output)) return of_one_shape(node->inputs[0], node->inputs[1]);
    const Node* const product = inner("Mul", output);
    if (!product) return std::nullopt;
    for (const size_t side : {0, 1})
      for (const char* const op : {"Reciprocal", "Inv"})
        if (const auto y = argument(op, product->inputs[side]))
          return of_one_shape(product->inputs[1 - side], *y);
    return std::nullopt;
  }
  std::optional<Quotient> of_one_shape(Output dividend, Output divisor) const {
    return shapes_.same(dividend, divisor) ? std::optional(Quotient{dividend, divisor}) : std::nullopt;
  }

  /// Returns x if the output is x + 1.
  std::optional<Output> minus_one(Output output) const {
    for (const char* const op : {"Add", "AddV2"})
      if (const Node* const node = inner(op, output))
        for (const size_t side : {0, 1})
          if (const auto x = operand_beside(draft_, *node, side, 1)) return x;
    return std::nullopt;
  }

  static bool is_pair(const Node& node, Output x, Output y) {
    return (node.inputs[0] == x && node.inputs[1] == y) || (node.inputs[0] == y && node.inputs[1] == x);
  }

  const std::span<const NodeId> order_;
  const SymbolicShapes shapes_;
};

}  // namespace

Result<size_t> stabilize(Subgraph& subgraph) {
  TROUPE_ASSIGN(const auto order, topological_order(subgraph.graph));
  Graph result = subgraph.graph.empty();
  GraphDraft draft{std::move(subgraph.graph).release()};
  const size_t replaced = Stabilizer(draft, subgraph.origin, order, *result.ops()).run();
  subgraph.graph = std::move(draft).into(std::move(result));
  return replaced;
}

}  // namespace troupe
