// Rows combined by segments: row k of the result combines the rows whose id is k, in order. The ids may be in any order; the shape
// of data begins with that of segment_ids. Rows with a negative id are left out. Fails with InvalidArgument for an id that is not
// below num_segments.
//   UnsortedSegmentSum, UnsortedSegmentProd(data, segment_ids, num_segments)   any number; a row without an id is 0 or 1
//   UnsortedSegmentMax, UnsortedSegmentMin(data, segment_ids, num_segments)    real; a row without an id is the least or the
//                                                                              greatest finite number; NaN if any
//                                                                              element is NaN
#include "kernels/ops/math/unsorted_segments.h"

#include <algorithm>
#include <limits>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

/// Returns the greatest finite number.
template <class T>
T greatest() {
  if constexpr (std::is_same_v<T, Half>)
    return T(65504.0f);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return T(0x1.FEp127f);
  else
    return std::numeric_limits<T>::max();
}
template <class T>
T least() {
  if constexpr (std::is_arithmetic_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return T(-static_cast<float>(greatest<T>()));
}

/// Returns the result for a segment without rows.
template <class Function, class T>
T neutral() {
  if constexpr (std::is_same_v<Function, Add>)
    return T{};
  else if constexpr (std::is_same_v<Function, Mul>)
    return T(1);
  else
    return std::is_same_v<Function, Maximum> ? least<T>() : greatest<T>();
}

/// One thread combines all that belongs to one block of columns, so every result is in the order of the data.
template <class Function, class T>
void combine_segments(Pool& pool, std::span<const T> data, std::span<const int64_t> ids, std::span<T> results,
                      size_t row) {
  const size_t block = std::max<size_t>(block_cost / std::max<size_t>(2 * ids.size() * sizeof(T), 1), 64);
  pool.blocks(row, block, [&](size_t begin, size_t end) {
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] >= 0)
        combine_into<Function, T>(results.subspan(static_cast<size_t>(ids[i]) * row + begin, end - begin),
                                  data.subspan(i * row + begin, end - begin));
  });
}

template <class Function, class List>
Status compute_unsorted_segments(const UnsortedSegmentsArguments& arguments, DeviceContext& device) {
  const Tensor& data = arguments.data;
  Tensor& output = arguments.output;
  const Dims ids = integers(arguments.segment_ids);
  TROUPE_RETURN_IF_FAILED(check_below(ids, arguments.segment_ids.shape(), output.shape()[0]));
  with_type(List{}, data.dtype(), [&]<class T>(std::type_identity<T>) {
    const Tensor start = Tensor::scalar(neutral<Function, T>());
    fill(device.pool(), output, &start);
    if (data.elements() != 0)
      combine_segments<Function, T>(device.pool(), data.as<T>(), ids, output.write<T>(), arguments.row);
  });
  return {};
}

// ---- Gradients

/// Rows of tensors by the ids of the op, where rows with a negative id are left out.
class RowsById {
 public:
  RowsById(const Scope& scope, Output ids)
      : scope_(scope), ids_(ids), zero_(zeros_like(scope, ids)), at_(maximum(scope, ids, zero_)) {}

  /// Returns row ids[i] of `x` for each row of the data; some row where it is left out.
  Output rows(Output x) const { return scope_.add_one("Gather", {x, at_}); }
  /// Returns the rows, with zeros for those that are left out.
  Output rows_or_zero(Output x) const {
    const Output all = rows(x);
    return where_v2(scope_, kept(all), all, zeros_like(scope_, all));
  }
  /// Returns whether each row of the data is kept, in a shape that broadcasts to that of the data.
  Output kept(Output rows) const {
    const Output others =
        expand_dims(scope_, sub(scope_, scope_.add_one("Rank", {rows}), scope_.add_one("Rank", {ids_})), 0);
    const Output shape =
        concat(scope_, {shape_of(scope_, ids_), fill(scope_, others, integer_constant(scope_, 1))}, 0);
    return reshape(scope_, greater_equal(scope_, ids_, zero_), shape);
  }

 private:
  const Scope& scope_;
  Output ids_, zero_, at_;
};

void unsorted_sum_gradient(GradientContext& context) {
  context.set(0, RowsById(context.scope(), context.input(1)).rows_or_zero(context.gradient()));
}

/// All elements that equal the extreme value share its gradient equally.
void unsorted_extreme_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output data = context.input(0);
  const RowsById by_id(scope, context.input(1));
  const Output equals = equal(scope, data, by_id.rows(context.output(0)));
  const Output chosen = cast(scope, logical_and(scope, equals, by_id.kept(data)), scope.dtype(data));
  const Output ties = scope.add_one("UnsortedSegmentSum", {chosen, context.input(1), context.input(2)});
  context.set(0, mul(scope, chosen, by_id.rows(div_no_nan(scope, context.gradient(), ties))));
}

/// The derivative by an element is the product of the others: the result divided by the element, or, for the only zero of a
/// segment, the product of the rest. Two zeros make it 0.
void unsorted_product_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output data = context.input(0), ids = context.input(1), segments = context.input(2);
  const RowsById by_id(scope, ids);
  const auto combined = [&](const char* op, Output x) { return scope.add_one(op, {x, ids, segments}); };
  const Output is_zero = equal(scope, data, zeros_like(scope, data));
  const Output safe = where_v2(scope, is_zero, ones_like(scope, data), data);
  const Output zeros = combined("UnsortedSegmentSum", cast(scope, is_zero, DType::Int32));
  const Output gradient = where_v2(scope, greater(scope, zeros, 1), 0, context.gradient());
  const Output rest = by_id.rows(combined("UnsortedSegmentProd", safe));
  const Output others = div(scope, by_id.rows(context.output(0)), safe);
  const Output derivative = conjugate(scope, where_v2(scope, is_zero, rest, others));
  context.set(0, mul(scope, by_id.rows_or_zero(gradient), derivative));
}

template <class Function, class List>
void add_unsorted(OpLibrary& library, const std::string& kind, const char* types, GradientFunction gradient) {
  std::string lower = kind;
  lower[0] = static_cast<char>(lower[0] - 'A' + 'a');
  library.op(OpDefBuilder("UnsortedSegment" + kind)
                 .input("data: T")
                 .input("segment_ids: Tindices")
                 .host_input("num_segments: Tnumsegments")
                 .output("output: T")
                 .attr(types)
                 .attr("Tindices: {int32, int64}")
                 .attr("Tnumsegments: {int32, int64} = int32")
                 .constructor("unsorted_segment_" + lower + "(data, segment_ids, num_segments)")
                 .shape(unsorted_segments_shape)
                 .gradient(gradient));
  library.kernel(
      cpu_kernel("UnsortedSegment" + kind, check_unsorted_segments, compute_unsorted_segments<Function, List>)
          .on("T", dtypes(List{})));
}

}  // namespace

Status unsorted_segments_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  const PartialShape &data = context.input(0), &ids = context.input(1);
  if (!data.known_rank() || !ids.known_rank()) return {};
  TROUPE_ASSIGN(const Dims row, row_dims(data.dims(), ids.dims(), "data", "segment_ids"));
  const int64_t segments = constant_integer(context, 2).value_or(unknown_dim);
  if (segments < unknown_dim)
    return invalid_argument("num_segments is " + std::to_string(segments) + "; it must not be negative");
  context.set_output(0, partial(row.with(0, segments)));
  return {};
}

Status check_below(const Dims& ids, const Shape& shape, int64_t segments) {
  const auto found = std::ranges::find_if(ids, [&](int64_t id) { return id >= segments; });
  if (found == ids.end()) return {};
  return invalid_argument(element_name("segment_ids", shape, found - ids.begin()) + " = " +
                          std::to_string(*found) + " is not below num_segments " + std::to_string(segments));
}

Result<UnsortedSegmentsArguments> check_unsorted_segments(KernelContext& context) {
  const Tensor &data = context.input(0), &ids = context.input(1);
  TROUPE_ASSIGN(const int64_t segments, integer_scalar(context.input(2), "num_segments"));
  TROUPE_ASSIGN(const Dims row, row_dims(data.shape().dims(), ids.shape().dims(), "data", "segment_ids"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(row.with(0, segments), data.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return UnsortedSegmentsArguments{data, ids, *output, count_of(row)};
}

void add_unsorted_segment_ops(OpLibrary& library) {
  add_unsorted<Add, NumberTypes>(library, "Sum", "T: numbertype", unsorted_sum_gradient);
  add_unsorted<Mul, NumberTypes>(library, "Prod", "T: numbertype", unsorted_product_gradient);
  add_unsorted<Maximum, RealTypes>(library, "Max", "T: realnumbertype", unsorted_extreme_gradient);
  add_unsorted<Minimum, RealTypes>(library, "Min", "T: realnumbertype", unsorted_extreme_gradient);
}

}  // namespace troupe
