// Ops that rearrange elements or reduce dimensions, and shapes. They are split as their first input is. If only axes or a
// permutation are in parts, they are computed as a whole.
#include <algorithm>

#include "graph/build/partial_values.h"
#include "graph/build/split.h"
#include "graph/passes/split/split_rules.h"

namespace troupe {
namespace {

Output parts_of(const Scope& scope, const std::vector<int64_t>& values) {
  return scope.constant(Tensor::vector(std::span<const int64_t>(values)));
}

int64_t product(std::span<const int64_t> dims) {
  int64_t result = 1;
  for (const int64_t dim : dims)
    if (dim == unknown_dim || __builtin_mul_overflow(result, dim, &result)) return unknown_dim;
  return result;
}

/// Returns the signature of a part that is reshaped to `target`, in which the element at `varying` has the length of the part.
SplitSignature reshape_signature(const SplitInput& x, const std::vector<int64_t>& target, size_t varying,
                                 int64_t parts) {
  const Extent extent = x.extent;
  const auto make = [=](const Scope& scope, int64_t part, const std::vector<Output>& inputs) {
    auto shape = target;
    shape[varying] = varying == 0 ? -1 : part_range(extent.size, part, parts).size;
    return scope.add_one("Reshape", {inputs[0], parts_of(scope, shape)});
  };
  return {{x.distribution, whole_tensor}, {split_by(static_cast<int64_t>(varying))}, 0, make};
}

/// A split first dimension may stay the first one, and a split last dimension the last one.
std::vector<SplitSignature> reshape_signatures(const SplitNode& node) {
  const SplitInput& x = node.inputs[0];
  auto target = partial_integers(node.graph, node.node.inputs[1]);
  if (!x.distribution.split() || !target || target->empty()) return {};
  const auto dims = x.shape.dims();
  const int64_t rest = product(dims.subspan(1));
  if (x.distribution.split(0) && rest != unknown_dim && rest == product(std::span(*target).subspan(1)) &&
      (target->front() == unknown_dim || target->front() == dims[0]))
    return {reshape_signature(x, *target, 0, node.parts)};
  const auto unknown = std::ranges::count(std::span(*target).first(target->size() - 1), unknown_dim);
  if (x.rank() > 1 && target->size() > 1 && x.distribution.split(x.rank() - 1) && x.extent.known() &&
      target->back() == x.extent.size && unknown <= 1)
    return {reshape_signature(x, *target, target->size() - 1, node.parts)};
  return {};
}

std::vector<SplitSignature> transpose_signatures(const SplitNode& node) {
  const auto permutation = node.integers(1);
  const Distribution& in = node.inputs[0].distribution;
  if (!permutation || in.whole()) return {};
  if (in.partial()) return {{{in, whole_tensor}, {in}}};
  const auto place = std::ranges::find(*permutation, in.dimension);
  if (place == permutation->end()) return {};
  return {{{in, whole_tensor}, {split_by(place - permutation->begin())}, 0}};
}

std::vector<SplitSignature> expand_signatures(const SplitNode& node) {
  const auto axis = node.integers(1);
  const SplitInput& x = node.inputs[0];
  if (!axis || axis->size() != 1 || x.distribution.whole()) return {};
  if (x.distribution.partial()) return {{{terms_of_sum, whole_tensor}, {terms_of_sum}}};
  const int64_t at = axis->front() < 0 ? axis->front() + x.rank() + 1 : axis->front();
  const int64_t dimension = x.distribution.dimension;
  return {{{x.distribution, whole_tensor}, {split_by(dimension + (at <= dimension ? 1 : 0))}, 0}};
}

/// The shape of the whole is the sum of the shape of the first part and the lengths of the others.
std::vector<SplitSignature> shape_signatures(const SplitNode& node) {
  const SplitInput& x = node.inputs[0];
  const auto make = [rank = x.rank(), in = x.distribution, attrs = node.node.attrs](
                        const Scope& scope, int64_t part, std::vector<Output> inputs) {
    const Output shape = scope.add_one("Shape", std::move(inputs), attrs);
    if (part == 0) return shape;
    std::vector<int64_t> counted(static_cast<size_t>(rank), 0);
    if (in.split()) counted[static_cast<size_t>(in.dimension)] = 1;
    const Output factors = scope.add_one("Cast", {parts_of(scope, counted)}, {{"DstT", scope.dtype(shape)}});
    return scope.add_one("Mul", {shape, factors});
  };
  return {{{x.distribution}, {terms_of_sum}, 0, make}};
}

// ---- Reductions

/// Returns the reduced axes, ascending; nothing if they are not known.
std::optional<std::vector<int64_t>> reduced_axes(const SplitNode& node) {
  auto axes = node.integers(1);
  if (!axes) return std::nullopt;
  for (int64_t& axis : *axes)
    if (axis < 0) axis += node.inputs[0].rank();
  std::ranges::sort(*axes);
  return axes;
}

/// The mean over a dimension of known size whose parts differ in length: each part's mean counts by its length.
SplitSignature mean_signature(const SplitNode& node, const SplitInput& x) {
  const auto make = [=, attrs = node.node.attrs, parts = node.parts, size = x.extent.size](
                        const Scope& scope, int64_t part, std::vector<Output> inputs) {
    const Output mean = scope.add_one("Mean", std::move(inputs), attrs);
    const double share = static_cast<double>(part_range(size, part, parts).size) / static_cast<double>(size);
    const Output factor =
        scope.add_one("Cast", {scope.constant(Tensor::scalar(share))}, {{"DstT", scope.dtype(mean)}});
    return scope.add_one("Mul", {mean, factor});
  };
  return {{x.distribution, whole_tensor}, {terms_of_sum}, 0, make};
}

std::vector<SplitSignature> reduced(const SplitNode& node) {
  const SplitInput& x = node.inputs[0];
  const std::string& op = node.node.type();
  const DType dtype = node.graph.dtype(node.node.inputs[0]);
  // A mean of integers is rounded, so it is no sum of the means of parts.
  const bool is_linear = op == "Sum" || (op == "Mean" && (is_floating(dtype) || is_complex(dtype)));
  if (x.distribution.partial())
    return is_linear ? std::vector<SplitSignature>{{{terms_of_sum, whole_tensor}, {terms_of_sum}}}
                     : std::vector<SplitSignature>{};
  const auto axes = reduced_axes(node);
  if (!axes || x.distribution.whole()) return {};
  const int64_t dimension = x.distribution.dimension;
  if (std::ranges::count(*axes, dimension) == 0) {
    const bool keeps = node.node.attrs.get<bool>("keep_dims");
    const int64_t before = std::ranges::count_if(*axes, [&](int64_t axis) { return axis < dimension; });
    return {{{x.distribution, whole_tensor}, {split_by(keeps ? dimension : dimension - before)}, 0}};
  }
  if (op == "Sum") return {{{x.distribution, whole_tensor}, {terms_of_sum}}};
  if (is_linear && x.extent.known()) return {mean_signature(node, x)};
  return {};
}

}  // namespace

SplitSignatures layout_signatures(const SplitNode& node) {
  const std::string& op = node.node.type();
  if (op == "Reshape") return reshape_signatures(node);
  if (op == "Transpose") return transpose_signatures(node);
  if (op == "ExpandDims") return expand_signatures(node);
  if (op == "Shape") return shape_signatures(node);
  return std::nullopt;
}

SplitSignatures reduction_signatures(const SplitNode& node) {
  const std::string& op = node.node.type();
  if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min" || op == "Prod") return reduced(node);
  if (op == "L2Loss" && node.inputs[0].distribution.split())
    return std::vector<SplitSignature>{{{node.inputs[0].distribution}, {terms_of_sum}}};
  if (op == "L2Loss") return std::vector<SplitSignature>{};
  return std::nullopt;
}

}  // namespace troupe
