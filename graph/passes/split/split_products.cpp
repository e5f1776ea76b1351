// Products, convolutions and biases.
//
//   MatMul    rows of a -> rows; columns of b -> columns; columns of a and rows of b -> terms of a sum
//   Conv2D    the batch -> the batch; output channels -> channels; input channels -> terms of a sum
#include "graph/passes/split/split_exchanges.h"
#include "graph/passes/split/split_rules.h"

namespace troupe {
namespace {

bool flag(const Node& node, const char* name) { return node.attrs.get<bool>(name); }

std::vector<SplitSignature> matmul_signatures(const SplitNode& node) {
  const SplitInput &a = node.inputs[0], &b = node.inputs[1];
  const int64_t row = flag(node.node, "transpose_a") ? 1 : 0, column = flag(node.node, "transpose_b") ? 0 : 1;
  std::vector<SplitSignature> result;
  if (a.distribution.split(row)) result.push_back({{split_by(row), whole_tensor}, {split_by(0)}, 0});
  if (b.distribution.split(column)) result.push_back({{whole_tensor, split_by(column)}, {split_by(1)}, 1});
  if (a.distribution.split(1 - row) || b.distribution.split(1 - column))
    result.push_back({{split_by(1 - row), split_by(1 - column)}, {terms_of_sum}});
  if (a.distribution.partial() && b.distribution.whole())
    result.push_back({{terms_of_sum, whole_tensor}, {terms_of_sum}});
  if (b.distribution.partial() && a.distribution.whole())
    result.push_back({{whole_tensor, terms_of_sum}, {terms_of_sum}});
  return result;
}

/// Returns which dimension of images has the channels.
int64_t channels_of(const Node& node, int64_t rank) {
  const AttrValue* const format = node.attrs.find("data_format");
  const bool first = format && std::get<std::string>(*format).starts_with("NC");
  return first ? 1 : rank - 1;
}

std::vector<SplitSignature> bias_signatures(const SplitNode& node) {
  const SplitInput &x = node.inputs[0], &bias = node.inputs[1];
  const int64_t channels = channels_of(node.node, x.rank());
  std::vector<SplitSignature> result;
  if (x.distribution.split() && !x.distribution.split(channels))
    result.push_back({{x.distribution, whole_tensor}, {x.distribution}, 0});
  if (x.distribution.split(channels))
    result.push_back({{split_by(channels), split_by(0)}, {split_by(channels)}, 0});
  else if (bias.distribution.split(0))
    result.push_back({{split_by(channels), split_by(0)}, {split_by(channels)}, 1});
  return result;
}

std::vector<SplitSignature> bias_gradient_signatures(const SplitNode& node) {
  const SplitInput& gradient = node.inputs[0];
  const int64_t channels = channels_of(node.node, gradient.rank());
  if (gradient.distribution.split(channels)) return {{{split_by(channels)}, {split_by(0)}, 0}};
  return {{{gradient.distribution}, {terms_of_sum}}};
}

std::vector<SplitSignature> conv_signatures(const SplitNode& node) {
  const SplitInput &x = node.inputs[0], &filter = node.inputs[1];
  const int64_t channels = channels_of(node.node, 4);
  std::vector<SplitSignature> result;
  if (x.distribution.split(0)) result.push_back({{split_by(0), whole_tensor}, {split_by(0)}, 0});
  if (filter.distribution.split(3)) result.push_back({{whole_tensor, split_by(3)}, {split_by(channels)}, 1});
  const bool has_groups = x.dim(channels) == unknown_dim || x.dim(channels) != filter.dim(2);
  if (!has_groups && (x.distribution.split(channels) || filter.distribution.split(2)))
    result.push_back({{split_by(channels), split_by(2)}, {terms_of_sum}});
  return result;
}

/// Returns a vector of sizes in which that of one dimension is the length of a dimension of `x`.
Output with_length(const Scope& scope, Output sizes, int64_t at, Output x, int64_t dimension) {
  const auto vector = [&](int32_t value) { return scope.constant(Tensor::vector<int32_t>({value})); };
  const auto place = static_cast<int32_t>(at);
  std::vector<Output> pieces;
  if (place > 0) pieces.push_back(scope.add_one("Slice", {sizes, vector(0), vector(place)}));
  pieces.push_back(Exchanges::length(scope, x, dimension));
  if (place < 3) pieces.push_back(scope.add_one("Slice", {sizes, vector(place + 1), vector(3 - place)}));
  pieces.push_back(scope.constant(Tensor::scalar<int32_t>(0)));
  return scope.add_one("ConcatV2", std::move(pieces));
}

/// Returns a signature whose output is split by `out`, as input `like` is. Input `sizes` has the sizes of the whole output.
SplitSignature sized(const Node& node, std::vector<Distribution> inputs, int64_t out, size_t like,
                     size_t sizes) {
  const int64_t of = inputs[like].dimension;
  const auto make = [op = node.type(), attrs = node.attrs, sizes, out, like, of](const Scope& scope, int64_t,
                                                                                 std::vector<Output> parts) {
    parts[sizes] = with_length(scope, parts[sizes], out, parts[like], of);
    return scope.add_one(op, std::move(parts), attrs);
  };
  return {std::move(inputs), {split_by(out)}, like, make};
}

/// Conv2DBackpropInput(input_sizes, filter, out_backprop)
std::vector<SplitSignature> image_gradient_signatures(const SplitNode& node) {
  const Distribution &filter = node.inputs[1].distribution, &gradient = node.inputs[2].distribution;
  const int64_t channels = channels_of(node.node, 4);
  std::vector<SplitSignature> result;
  if (gradient.split(0))
    result.push_back(sized(node.node, {whole_tensor, whole_tensor, split_by(0)}, 0, 2, 0));
  if (filter.split(3) || gradient.split(channels))
    result.push_back({{whole_tensor, split_by(3), split_by(channels)}, {terms_of_sum}});
  if (filter.split(2))
    result.push_back(sized(node.node, {whole_tensor, split_by(2), whole_tensor}, channels, 1, 0));
  return result;
}

/// Conv2DBackpropFilter(input, filter_sizes, out_backprop)
std::vector<SplitSignature> filter_gradient_signatures(const SplitNode& node) {
  const Distribution &x = node.inputs[0].distribution, &gradient = node.inputs[2].distribution;
  const int64_t channels = channels_of(node.node, 4);
  std::vector<SplitSignature> result;
  if (x.split(0) || gradient.split(0))
    result.push_back({{split_by(0), whole_tensor, split_by(0)}, {terms_of_sum}});
  if (gradient.split(channels))
    result.push_back(sized(node.node, {whole_tensor, whole_tensor, split_by(channels)}, 3, 2, 1));
  if (x.split(channels))
    result.push_back(sized(node.node, {split_by(channels), whole_tensor, whole_tensor}, 2, 0, 1));
  return result;
}

}  // namespace

SplitSignatures product_signatures(const SplitNode& node) {
  const std::string& op = node.node.type();
  if (op == "MatMul") return matmul_signatures(node);
  if (op == "BiasAdd") return bias_signatures(node);
  if (op == "BiasAddGrad") return bias_gradient_signatures(node);
  if (op == "Conv2D") return conv_signatures(node);
  if (op == "Conv2DBackpropInput") return image_gradient_signatures(node);
  if (op == "Conv2DBackpropFilter") return filter_gradient_signatures(node);
  return std::nullopt;
}

}  // namespace troupe
