// Rules for ops that combine rows by the numbers of their segments, and that find these numbers from where segments begin.
#include <algorithm>
#include <limits>

#include "apps/onnx/conversion.h"

namespace troupe::onnx {
namespace {

/// How the rows of a segment are combined.
struct Combination {
  std::string_view op, reduction;
  /// The value of a segment without rows; an infinity stands for the least or greatest number.
  double neutral;
};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Combination combinations[] = {{"UnsortedSegmentSum", "add", 0},
                                        {"UnsortedSegmentProd", "mul", 1},
                                        {"UnsortedSegmentMax", "max", -infinity},
                                        {"UnsortedSegmentMin", "min", infinity}};

template <class T>
Tensor scalar_of(double value) {
  using Limits = std::numeric_limits<T>;
  return Tensor::scalar(value == infinity    ? Limits::max()
                        : value == -infinity ? Limits::lowest()
                                             : static_cast<T>(value));
}

Result<Tensor> scalar_of(DType dtype, double value) {
  switch (dtype) {
    case DType::Float: return scalar_of<float>(value);
    case DType::Double: return scalar_of<double>(value);
    case DType::Int32: return scalar_of<int32_t>(value);
    case DType::Int64: return scalar_of<int64_t>(value);
    default: return unimplemented("segments of " + std::string(name(dtype)) + " cannot be exported");
  }
}

/// ScatterND adds rows to, or compares them with, what a segment without rows has. Rows without a segment, whose number is
/// negative, go to one behind the others, which is cut off.
Status unsorted_segments(Conversion& to, const Node& node) {
  const auto& combination = *std::ranges::find(combinations, node.type(), &Combination::op);
  TROUPE_ASSIGN(const int64_t rank, to.rank(node, 1));
  TROUPE_ASSIGN(const Tensor neutral, scalar_of(to.dtype(node, 0), combination.neutral));
  const std::string ids = to.as_int64(node, 1), one = to.integers({1}), zero = to.integers({0});
  const std::string count = to.add("Reshape", {to.as_int64(node, 2), one});
  const std::string segment = to.add("Where", {to.add("Less", {ids, zero}), count, ids});
  const std::string row = to.add("Shape", {to.input(node, 0)}, {{"start", rank}});
  const std::string shape = to.add("Concat", {to.add("Add", {count, one}), row}, {{"axis", int64_t{0}}});
  const std::string all = to.add("ScatterND",
                                 {to.add("Expand", {to.constant(neutral), shape}),
                                  to.add("Unsqueeze", {segment, to.integers({-1})}), to.input(node, 0)},
                                 {{"reduction", std::string(combination.reduction)}});
  to.set(node, 0, to.add("Slice", {all, zero, count, zero}));
  return {};
}

/// The bound of a value is the number of sorted ones that precede it. ONNX has no search, so each value is compared with each.
Status bound(Conversion& to, const Node& node) {
  const std::string sorted = to.add("Unsqueeze", {to.input(node, 0), to.integers({1})}),
                    values = to.add("Unsqueeze", {to.input(node, 1), to.integers({2})});
  const std::string precedes = to.add(node.type() == "UpperBound" ? "LessOrEqual" : "Less", {sorted, values});
  to.set(node, 0,
         to.add("ReduceSum", {to.cast(precedes, node.output_types[0].dtype), to.integers({2})},
                {{"keepdims", int64_t{0}}}));
  return {};
}

}  // namespace

void add_segment_rules(Rules& rules) {
  for (const Combination& combination : combinations) rules[std::string(combination.op)] = unsorted_segments;
  for (const char* const op : {"LowerBound", "UpperBound"}) rules[op] = bound;
}

}  // namespace troupe::onnx
