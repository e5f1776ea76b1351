// Rows combined by segments: row k of the result combines the rows whose id is k, in order. A row without an id is 0, of
// SegmentProd 1.
//   SegmentSum, SegmentMean, SegmentProd(data, segment_ids)   any number; integers wrap around, an integer mean truncates
//   SegmentMax, SegmentMin(data, segment_ids)                 real; NaN if any element is NaN
// segment_ids, which is in host memory, has one id for each row of data, in ascending order. Fails with InvalidArgument for an id
// that is negative or less than the one before.
#include "kernels/ops/math/segments.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

template <class Id>
Status check_order(std::span<const Id> ids) {
  for (size_t i = 0; i < ids.size(); ++i)
    if (const Id before = i == 0 ? 0 : ids[i - 1]; ids[i] < before)
      return invalid_argument("segment_ids[" + std::to_string(i) + "] = " + std::to_string(ids[i]) +
                              " is less than " + std::to_string(before) +
                              "; segment_ids must be in ascending order from 0 on");
  if (!ids.empty() && ids.back() == INT64_MAX)
    return invalid_argument("segment_ids[" + std::to_string(ids.size() - 1) +
                            "] = " + std::to_string(ids.back()) +
                            " is too large: the number of segments does not fit int64");
  return {};
}

/// Returns the number of segments. Fails with InvalidArgument if the ids are not in ascending order from 0 on.
template <class Id>
Result<int64_t> count_of_segments(std::span<const Id> ids) {
  TROUPE_RETURN_IF_FAILED(check_order(ids));
  return ids.empty() ? 0 : int64_t{ids.back()} + 1;
}

Status segments_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto ids, context.with_rank(1, 1));
  const PartialShape& data = context.input(0);
  if (!data.known_rank()) return {};
  if (data.rank() == 0) return invalid_argument("data is a scalar; it must have at least one dimension");
  TROUPE_RETURN_IF_FAILED(merge(PartialShape::vector(data[0]), ids).status());
  int64_t segments = unknown_dim;
  if (const auto known = context.constant_integers(1)) {
    TROUPE_ASSIGN(segments, count_of_segments(std::span(std::as_const(*known))));
  }
  context.set_output(0, partial(Dims(data.dims().subspan(1)).with(0, segments)));
  return {};
}

/// Computes sums, which are divided by the number of their terms later.
struct Mean : Add {};

template <class T>
T divided(T sum, size_t count) {
  using Computed = ComputeType<T>;
  if constexpr (is_complex_type<T>)
    return sum / static_cast<typename T::value_type>(count);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<int64_t>(sum) / static_cast<int64_t>(count));
  else
    return T(static_cast<Computed>(sum) / static_cast<Computed>(count));
}

template <class Function, class T>
void combine_segment(std::span<const T> rows, std::span<T> to) {
  std::ranges::copy(rows.first(to.size()), to.begin());
  for (size_t at = to.size(); at < rows.size(); at += to.size())
    combine_into<Function, T>(to, rows.subspan(at, to.size()));
  if constexpr (std::is_same_v<Function, Mean>)
    for (T& value : to) value = divided(value, rows.size() / to.size());
}

/// Fills the output with the result of a segment without rows.
template <class Function, class List>
void fill_gaps(Tensor& output, Pool& pool) {
  if constexpr (std::is_same_v<Function, Mul>)
    with_type(List{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
      const Tensor one = Tensor::scalar(T(1));
      fill(pool, output, &one);
    });
  else
    fill(pool, output);
}

template <class Function, class List>
void compute_segments(const SegmentsArguments& arguments, DeviceContext& device) {
  const Tensor& data = arguments.data;
  Tensor& output = arguments.output;
  const Dims ids = integers(arguments.segment_ids);
  const std::vector<size_t> starts = starts_of_runs(ids);
  const size_t runs = starts.size() - 1;
  if (static_cast<int64_t>(runs) != arguments.segments) fill_gaps<Function, List>(output, device.pool());
  const auto row = static_cast<size_t>(output.elements() / arguments.segments);
  with_type(List{}, data.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto from = data.as<T>();
    const auto to = output.write<T>();
    parallel_rows(device.pool(), runs, 2 * data.bytes() / runs, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k)
        combine_segment<Function, T>(from.subspan(starts[k] * row, (starts[k + 1] - starts[k]) * row),
                                     to.subspan(static_cast<size_t>(ids[starts[k]]) * row, row));
    });
  });
}

// ---- Gradients

/// Returns a row of `x`, which has one row for each segment, for each row of the data.
Output by_rows(const GradientContext& context, Output x) {
  return context.scope().add_one("Gather", {x, context.input(1)});
}

void segment_sum_gradient(GradientContext& context) { context.set(0, by_rows(context, context.gradient())); }

void segment_mean_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output ids = context.input(1);
  const Output others = expand_dims(scope, sub(scope, scope.add_one("Rank", {context.input(0)}), 1), 0);
  const Output shape =
      concat(scope, {shape_of(scope, ids), fill(scope, others, integer_constant(scope, 1))}, 0);
  const Output ones =
      fill(scope, shape, cast(scope, integer_constant(scope, 1), scope.dtype(context.gradient())));
  const Output counts = scope.add_one("SegmentSum", {ones, ids});
  context.set(0, by_rows(context, div(scope, context.gradient(), counts)));
}

/// All elements that equal the extreme value share its gradient equally.
void segment_extreme_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output data = context.input(0), extreme = by_rows(context, context.output(0));
  const Output chosen = cast(scope, equal(scope, data, extreme), scope.dtype(data));
  const Output ties = scope.add_one("SegmentSum", {chosen, context.input(1)});
  context.set(0, mul(scope, chosen, by_rows(context, div_no_nan(scope, context.gradient(), ties))));
}

/// The derivative by an element is the product of the others: the result divided by the element, or, for the only zero of a
/// segment, the product of the rest. Two zeros make it 0.
void segment_product_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output data = context.input(0), ids = context.input(1);
  const Output is_zero = equal(scope, data, zeros_like(scope, data));
  const Output safe = where_v2(scope, is_zero, ones_like(scope, data), data);
  const Output zeros = scope.add_one("SegmentSum", {cast(scope, is_zero, DType::Int32), ids});
  const Output gradient = where_v2(scope, greater(scope, zeros, 1), 0, context.gradient());
  const Output rest = by_rows(context, scope.add_one("SegmentProd", {safe, ids}));
  const Output others = div(scope, by_rows(context, context.output(0)), safe);
  const Output derivative = conjugate(scope, where_v2(scope, is_zero, rest, others));
  context.set(0, mul(scope, by_rows(context, gradient), derivative));
}

template <class Function, class List>
void add_segments(OpLibrary& library, const char* name, const char* constructor, const char* types,
                  GradientFunction gradient) {
  library.op(OpDefBuilder(name)
                 .input("data: T")
                 .host_input("segment_ids: Tindices")
                 .output("output: T")
                 .attr(types)
                 .attr("Tindices: {int32, int64}")
                 .constructor(constructor + std::string("(data, segment_ids)"))
                 .shape(segments_shape)
                 .gradient(gradient));
  library.kernel(cpu_kernel(name, check_segments, compute_segments<Function, List>).on("T", dtypes(List{})));
}

}  // namespace

Result<int64_t> count_of_segments(const Tensor& segment_ids) {
  if (segment_ids.dtype() == DType::Int32) return count_of_segments(segment_ids.as<int32_t>());
  return count_of_segments(segment_ids.as<int64_t>());
}

std::vector<size_t> starts_of_runs(std::span<const int64_t> ids) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < ids.size(); ++i)
    if (i == 0 || ids[i] != ids[i - 1]) starts.push_back(i);
  starts.push_back(ids.size());
  return starts;
}

Result<SegmentsArguments> check_segments(KernelContext& context) {
  const Tensor &data = context.input(0), &ids = context.input(1);
  if (data.shape().rank() == 0)
    return invalid_argument("data is a scalar; it must have at least one dimension");
  if (ids.shape().rank() != 1 || data.shape()[0] != ids.shape()[0])
    return invalid_argument("segment_ids has shape " + ids.shape().text() + " and data has shape " +
                            data.shape().text() + "; there must be one id for each row of data");
  TROUPE_ASSIGN(const int64_t segments, count_of_segments(ids));
  TROUPE_ASSIGN(Tensor* const output, segments_output(context, data, segments));
  return SegmentsArguments{data, ids, segments, *output};
}

Result<Tensor*> segments_output(KernelContext& context, const Tensor& data, int64_t segments) {
  const Dims dims = Dims(data.shape().dims().subspan(1)).with(0, segments);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, data.dtype()));
  return context.output(0, shape);
}

void add_segment_ops(OpLibrary& library) {
  add_segments<Add, NumberTypes>(library, "SegmentSum", "segment_sum", "T: numbertype", segment_sum_gradient);
  add_segments<Mean, NumberTypes>(library, "SegmentMean", "segment_mean", "T: numbertype",
                                  segment_mean_gradient);
  add_segments<Mul, NumberTypes>(library, "SegmentProd", "segment_prod", "T: numbertype",
                                 segment_product_gradient);
  add_segments<Maximum, RealTypes>(library, "SegmentMax", "segment_max", "T: realnumbertype",
                                   segment_extreme_gradient);
  add_segments<Minimum, RealTypes>(library, "SegmentMin", "segment_min", "T: realnumbertype",
                                   segment_extreme_gradient);
}

}  // namespace troupe
