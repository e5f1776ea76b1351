// The constructors of the op table as C++ functions, alphabetical: matmul(g, a, b) is g.call("matmul", {a,
// b}). A parameter takes what expressions in config files take: a tensor, or a number or list that gets the
// type of the other inputs. They throw Error with op, node and shapes. What each op computes stands in its
// family's file. One thread at a time per graph.
#pragma once

#include "graph/scope.h"

namespace troupe {

// clang-format off
inline Output abs(const Scope& g, Argument x) { return g.call("abs", {x}); }
inline Output add(const Scope& g, Argument x, Argument y) { return g.call("add", {x, y}); }
inline Output add_n(const Scope& g, std::vector<Output> inputs) { return g.call("add_n", {std::move(inputs)}); }
inline Output all(const Scope& g, Argument input) { return g.call("all", {input}); }
inline Output all(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("all", {input, axis, keep_dims}); }
inline Output any(const Scope& g, Argument input) { return g.call("any", {input}); }
inline Output any(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("any", {input, axis, keep_dims}); }
inline Output argmax(const Scope& g, Argument input, Argument axis = 0, DType output_type = i32) { return g.call("argmax", {input, axis, output_type}); }
inline Output argmin(const Scope& g, Argument input, Argument axis = 0, DType output_type = i32) { return g.call("argmin", {input, axis, output_type}); }
inline Output broadcast_to(const Scope& g, Argument input, Argument shape) { return g.call("broadcast_to", {input, shape}); }
inline Output cast(const Scope& g, Argument x, DType dtype) { return g.call("cast", {x, dtype}); }
inline Output ceil(const Scope& g, Argument x) { return g.call("ceil", {x}); }
inline Output conj(const Scope& g, Argument x) { return g.call("conj", {x}); }
inline Output cos(const Scope& g, Argument x) { return g.call("cos", {x}); }
inline Output div(const Scope& g, Argument x, Argument y) { return g.call("div", {x, y}); }
inline Output elu(const Scope& g, Argument features) { return g.call("elu", {features}); }
inline Output equal(const Scope& g, Argument x, Argument y) { return g.call("equal", {x, y}); }
inline Output exp(const Scope& g, Argument x) { return g.call("exp", {x}); }
inline Output floor(const Scope& g, Argument x) { return g.call("floor", {x}); }
inline Output floor_div(const Scope& g, Argument x, Argument y) { return g.call("floor_div", {x, y}); }
inline Output floor_mod(const Scope& g, Argument x, Argument y) { return g.call("floor_mod", {x, y}); }
inline Output greater(const Scope& g, Argument x, Argument y) { return g.call("greater", {x, y}); }
inline Output greater_equal(const Scope& g, Argument x, Argument y) { return g.call("greater_equal", {x, y}); }
inline Output is_finite(const Scope& g, Argument x) { return g.call("is_finite", {x}); }
inline Output is_inf(const Scope& g, Argument x) { return g.call("is_inf", {x}); }
inline Output is_nan(const Scope& g, Argument x) { return g.call("is_nan", {x}); }
inline Output l2_loss(const Scope& g, Argument t) { return g.call("l2_loss", {t}); }
inline Output less(const Scope& g, Argument x, Argument y) { return g.call("less", {x, y}); }
inline Output less_equal(const Scope& g, Argument x, Argument y) { return g.call("less_equal", {x, y}); }
inline Output log(const Scope& g, Argument x) { return g.call("log", {x}); }
inline Output log1p(const Scope& g, Argument x) { return g.call("log1p", {x}); }
inline Output log_softmax(const Scope& g, Argument logits) { return g.call("log_softmax", {logits}); }
inline Output logical_and(const Scope& g, Argument x, Argument y) { return g.call("logical_and", {x, y}); }
inline Output logical_not(const Scope& g, Argument x) { return g.call("logical_not", {x}); }
inline Output logical_or(const Scope& g, Argument x, Argument y) { return g.call("logical_or", {x, y}); }
inline Output max(const Scope& g, Argument input) { return g.call("max", {input}); }
inline Output max(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("max", {input, axis, keep_dims}); }
inline Output maximum(const Scope& g, Argument x, Argument y) { return g.call("maximum", {x, y}); }
inline Output mean(const Scope& g, Argument input) { return g.call("mean", {input}); }
inline Output mean(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("mean", {input, axis, keep_dims}); }
inline Output min(const Scope& g, Argument input) { return g.call("min", {input}); }
inline Output min(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("min", {input, axis, keep_dims}); }
inline Output minimum(const Scope& g, Argument x, Argument y) { return g.call("minimum", {x, y}); }
inline Output mod(const Scope& g, Argument x, Argument y) { return g.call("mod", {x, y}); }
inline Output mul(const Scope& g, Argument x, Argument y) { return g.call("mul", {x, y}); }
inline Output neg(const Scope& g, Argument x) { return g.call("neg", {x}); }
inline Output not_equal(const Scope& g, Argument x, Argument y) { return g.call("not_equal", {x, y}); }
inline Output ones_like(const Scope& g, Argument x) { return g.call("ones_like", {x}); }
inline Output pow(const Scope& g, Argument x, Argument y) { return g.call("pow", {x, y}); }
inline Output prod(const Scope& g, Argument input) { return g.call("prod", {input}); }
inline Output prod(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("prod", {input, axis, keep_dims}); }
inline Output real_div(const Scope& g, Argument x, Argument y) { return g.call("real_div", {x, y}); }
inline Output reciprocal(const Scope& g, Argument x) { return g.call("reciprocal", {x}); }
inline Output relu(const Scope& g, Argument features) { return g.call("relu", {features}); }
inline Output relu6(const Scope& g, Argument features) { return g.call("relu6", {features}); }
inline Output round(const Scope& g, Argument x) { return g.call("round", {x}); }
inline Output rsqrt(const Scope& g, Argument x) { return g.call("rsqrt", {x}); }
inline Output sigmoid(const Scope& g, Argument x) { return g.call("sigmoid", {x}); }
inline Output sign(const Scope& g, Argument x) { return g.call("sign", {x}); }
inline Output sin(const Scope& g, Argument x) { return g.call("sin", {x}); }
inline Output softmax(const Scope& g, Argument logits) { return g.call("softmax", {logits}); }
inline Output softmax_cross_entropy_with_logits(const Scope& g, Argument logits, Argument labels) { return g.call("softmax_cross_entropy_with_logits", {logits, labels}); }
inline Output softplus(const Scope& g, Argument features) { return g.call("softplus", {features}); }
inline Output sparse_softmax_cross_entropy_with_logits(const Scope& g, Argument logits, Argument labels) { return g.call("sparse_softmax_cross_entropy_with_logits", {logits, labels}); }
inline Output sqrt(const Scope& g, Argument x) { return g.call("sqrt", {x}); }
inline Output square(const Scope& g, Argument x) { return g.call("square", {x}); }
inline Output squared_difference(const Scope& g, Argument x, Argument y) { return g.call("squared_difference", {x, y}); }
inline Output sub(const Scope& g, Argument x, Argument y) { return g.call("sub", {x, y}); }
inline Output sum(const Scope& g, Argument input) { return g.call("sum", {input}); }
inline Output sum(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("sum", {input, axis, keep_dims}); }
inline Output tanh(const Scope& g, Argument x) { return g.call("tanh", {x}); }
inline Output where(const Scope& g, Argument condition, Argument x, Argument y) { return g.call("where", {condition, x, y}); }
inline Output zeros_like(const Scope& g, Argument x) { return g.call("zeros_like", {x}); }
// clang-format on

}  // namespace troupe
