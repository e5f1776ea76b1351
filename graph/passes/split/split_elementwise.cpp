// Ops that compute each element of their outputs from elements at the same place of their inputs, or from one row of the first
// dimensions, and sums.
#include <algorithm>
#include <array>
#include <string_view>

#include "graph/passes/split/split_rules.h"

namespace troupe {
namespace {

template <size_t n>
bool is_one_of(const Node& node, const std::array<std::string_view, n>& names) {
  return std::ranges::find(names, node.type()) != names.end();
}

constexpr std::array<std::string_view, 36> unary = {
    "Abs",   "Cast", "Ceil",     "Cos",      "Elu",        "Erf",       "Erfc",     "Exp",   "Expm1",
    "Floor", "Inv",  "IsFinite", "IsInf",    "IsNan",      "LeakyRelu", "Log",      "Log1p", "LogicalNot",
    "Neg",   "Relu", "Relu6",    "OnesLike", "Reciprocal", "Round",     "Rsqrt",    "Selu",  "Sigmoid",
    "Sign",  "Sin",  "Softplus", "Softsign", "Sqrt",       "Square",    "Identity", "Tanh",  "ZerosLike"};
constexpr std::array<std::string_view, 4> linear = {"Identity", "Neg", "StopGradient", "ZerosLike"};
constexpr std::array<std::string_view, 22> broadcasting = {
    "Add",     "AddV2",        "Atan2", "Div",       "DivNoNan",          "Equal",     "FloorDiv", "FloorMod",
    "Greater", "GreaterEqual", "Less",  "LessEqual", "LogicalAnd",        "LogicalOr", "Maximum",  "Minimum",
    "Mul",     "NotEqual",     "Pow",   "RealDiv",   "SquaredDifference", "Sub"};
/// All inputs have the same shape, or the op fails.
constexpr std::array<std::string_view, 14> same_shape = {
    "AddN",      "EluGrad",  "InvGrad",     "LeakyReluGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad",
    "RsqrtGrad", "SeluGrad", "SigmoidGrad", "SoftplusGrad",  "SoftsignGrad",   "SqrtGrad",  "TanhGrad"};
/// What a row yields depends on this row of all inputs alone, and all have as many rows, or the op fails.
constexpr std::array<std::string_view, 4> by_rows = {"MaxPool", "MaxPoolGrad", "AvgPool",
                                                     "SparseSoftmaxCrossEntropyWithLogits"};

SplitSignature all_of(const SplitNode& node, const Distribution& distribution, size_t like) {
  return {std::vector<Distribution>(node.inputs.size(), distribution),
          std::vector<Distribution>(node.node.output_types.size(), distribution), like};
}

bool all_partial(const SplitNode& node) {
  return std::ranges::all_of(node.inputs, [](const SplitInput& one) { return one.distribution.partial(); });
}

std::vector<SplitSignature> unary_signatures(const SplitNode& node) {
  const Distribution& in = node.inputs[0].distribution;
  if (in.split()) return {all_of(node, in, 0)};
  if (in.partial() && is_one_of(node.node, linear)) return {all_of(node, in, 0)};
  return {};
}

std::vector<SplitSignature> same_shape_signatures(const SplitNode& node) {
  if (node.node.type() == "AddN" && all_partial(node)) return {all_of(node, terms_of_sum, 0)};
  std::vector<SplitSignature> result;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].distribution.split()) result.push_back(all_of(node, node.inputs[i].distribution, i));
  return result;
}

std::vector<SplitSignature> row_signatures(const SplitNode& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].distribution.split(0)) return {all_of(node, split_by(0), i)};
  return {};
}

/// Softmax and its logarithm, along the last dimension.
std::vector<SplitSignature> softmax_signatures(const SplitNode& node) {
  const SplitInput& x = node.inputs[0];
  if (!x.distribution.split() || x.distribution.dimension == x.rank() - 1) return {};
  return {all_of(node, x.distribution, 0)};
}

/// LayerNorm and its gradient, along the last dimension, by any other one. The gradients by scale and offset are sums over the
/// rows.
std::vector<SplitSignature> layer_norm_signatures(const SplitNode& node) {
  const bool is_gradient = node.node.type() == "LayerNormGrad";
  for (size_t i = 0; i < (is_gradient ? 2 : 1); ++i) {
    const Distribution& rows = node.inputs[i].distribution;
    if (!rows.split() || rows.dimension == node.inputs[i].rank() - 1) continue;
    if (is_gradient) return {{{rows, rows, whole_tensor, rows, rows}, {rows, terms_of_sum, terms_of_sum}, i}};
    return {{{rows, whole_tensor, whole_tensor}, {rows, rows, rows}, i}};
  }
  return {};
}

/// Returns how input i must be distributed if the output is split by a dimension, which is `from_end` dimensions before its
/// end, with this extent; nothing if it is not known whether the input is repeated along that dimension.
std::optional<Distribution> operand(const SplitInput& input, int64_t from_end, const Extent& extent) {
  const int64_t dimension = input.rank() - from_end;
  if (dimension < 0 || input.dim(dimension) == 1) return whole_tensor;
  if (input.distribution.split(dimension) && input.extent == extent) return split_by(dimension);
  if (!extent.known() || input.dim(dimension) != extent.size) return std::nullopt;
  return split_by(dimension);
}

std::optional<SplitSignature> broadcast_signature(const SplitNode& node, size_t like) {
  const SplitInput& ruling = node.inputs[like];
  const int64_t from_end = ruling.rank() - ruling.distribution.dimension;
  SplitSignature result{{}, {}, like};
  int64_t rank = 0;
  for (const SplitInput& input : node.inputs) {
    rank = std::max(rank, input.rank());
    const auto wanted = operand(input, from_end, ruling.extent);
    if (!wanted) return std::nullopt;
    result.inputs.push_back(*wanted);
  }
  result.outputs = {split_by(rank - from_end)};
  return result;
}

std::vector<SplitSignature> broadcast_signatures(const SplitNode& node) {
  std::vector<SplitSignature> result;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].distribution.split())
      if (auto signature = broadcast_signature(node, i)) result.push_back(std::move(*signature));
  const std::string& op = node.node.type();
  const bool left = node.inputs[0].distribution.partial(), right = node.inputs[1].distribution.partial();
  const bool sums = op == "Add" || op == "AddV2" || op == "Sub";
  if (left && right && sums && node.inputs[0].shape == node.inputs[1].shape &&
      node.inputs[0].shape.fully_known())
    result.push_back(all_of(node, terms_of_sum, 0));
  if (left && !right && (op == "Mul" || op == "RealDiv"))
    result.push_back({{terms_of_sum, whole_tensor}, {terms_of_sum}});
  if (right && !left && op == "Mul") result.push_back({{whole_tensor, terms_of_sum}, {terms_of_sum}});
  return result;
}

}  // namespace

SplitSignatures elementwise_signatures(const SplitNode& node) {
  const std::string& op = node.node.type();
  if (is_one_of(node.node, unary) || op == "StopGradient") return unary_signatures(node);
  if (is_one_of(node.node, broadcasting)) return broadcast_signatures(node);
  if (is_one_of(node.node, same_shape)) return same_shape_signatures(node);
  if (is_one_of(node.node, by_rows)) return row_signatures(node);
  if (op == "Softmax" || op == "LogSoftmax") return softmax_signatures(node);
  if (op == "LayerNorm" || op == "LayerNormGrad") return layer_norm_signatures(node);
  return std::nullopt;
}

}  // namespace troupe
