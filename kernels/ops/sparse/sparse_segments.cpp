// Chosen rows combined by segments: row k of the output combines the rows data[indices[i]] for all i with segment_ids[i] == k,
// in order of i. A row without an id is 0.
//   SparseSegmentSum(data, indices, segment_ids)     real; integers wrap around
//   SparseSegmentMean(data, indices, segment_ids)    floats: the sum divided by the number of its terms
//   SparseSegmentSqrtN(data, indices, segment_ids)   floats: the sum divided by the square root of that number
// The number of rows is the last id plus one, for which the ids are in host memory; ...WithNumSegments take it as input
// num_segments. half and bfloat16 are summed in float. Fails with InvalidArgument if there is not one id for each index, an index
// is not that of a row of data, the ids are not in ascending order from 0 on, or an id is not below num_segments.
#include "kernels/ops/sparse/sparse_segments.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/math/segments.h"
#include "kernels/ops/math/unsorted_segments.h"

namespace troupe {
namespace {

Status check_segment_count(int64_t segments) {
  if (segments >= 0) return {};
  return invalid_argument("num_segments is " + std::to_string(segments) + "; it must not be negative");
}

Status sparse_segments_shape(ShapeContext& context) {
  const PartialShape& data = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_segment_shapes(data, "data", context.input(1), context.input(2)));
  int64_t segments = unknown_dim;
  if (context.inputs() == 4) {
    if (const auto given = constant_integer(context, 3)) {
      TROUPE_RETURN_IF_FAILED(check_segment_count(*given));
      segments = *given;
    }
  } else if (const Tensor* const ids = context.constant(2)) {
    TROUPE_ASSIGN(segments, count_of_segments(*ids));
  }
  if (data.known_rank()) context.set_output(0, partial(Dims(data.dims().subspan(1)).with(0, segments)));
  return {};
}

Status check_ids(const SparseSegmentsArguments& arguments) {
  if (arguments.counts_ids) return {};
  const Tensor& ids = arguments.segment_ids;
  TROUPE_ASSIGN(const int64_t segments, count_of_segments(ids));
  return segments <= arguments.segments ? Status()
                                        : check_below(integers(ids), ids.shape(), arguments.segments);
}

/// Sums rows of `data` in the type in which they are computed.
template <class T>
void sum_rows(std::span<const T> data, std::span<const int64_t> rows, std::span<ComputeType<T>> sums) {
  const auto row_at = [&](int64_t row) {
    return data.subspan(static_cast<size_t>(row) * sums.size(), sums.size());
  };
  std::ranges::transform(row_at(rows[0]), sums.begin(),
                         [](const T& value) { return static_cast<ComputeType<T>>(value); });
  for (const int64_t row : rows.subspan(1)) {
    if constexpr (std::is_same_v<T, ComputeType<T>>) {
      combine_into<Add, T>(sums, row_at(row));
    } else {
      const auto from = row_at(row);
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<ComputeType<T>>(from[i]);
    }
  }
}

/// Sets `to` to the sum of the rows divided by the divisor. `buffer` has as many elements, for types that are computed in
/// another.
template <class T>
void combine_rows(std::span<const T> data, std::span<const int64_t> rows, SegmentDivisor divisor,
                  std::span<ComputeType<T>> buffer, std::span<T> to) {
  if constexpr (std::is_same_v<T, ComputeType<T>>) buffer = to;
  sum_rows(data, rows, buffer);
  if constexpr (!std::is_integral_v<T>) {
    const auto by = divisor_of<ComputeType<T>>(divisor, rows.size());
    for (size_t i = 0; i < to.size(); ++i) to[i] = T(buffer[i] / by);
  }
}

template <class T>
void compute_segments_of(const SparseSegmentsArguments& arguments, SegmentDivisor divisor, Pool& pool) {
  const Dims ids = integers(arguments.segment_ids), indices = integers(arguments.indices);
  const std::vector<size_t> starts = starts_of_runs(ids);
  const size_t runs = starts.size() - 1;
  if (static_cast<int64_t>(runs) != arguments.segments) fill(pool, arguments.output);
  const auto data = arguments.data.as<T>();
  const auto to = arguments.output.write<T>();
  const size_t row = to.size() / static_cast<size_t>(arguments.segments);
  const size_t cost = ids.size() * row * sizeof(T) / std::max<size_t>(runs, 1) + row * sizeof(T);
  parallel_rows(pool, runs, cost, [&](size_t begin, size_t end) {
    std::vector<ComputeType<T>> buffer(std::is_same_v<T, ComputeType<T>> ? 0 : row);
    for (size_t k = begin; k < end; ++k)
      combine_rows<T>(data, std::span(indices.begin() + starts[k], indices.begin() + starts[k + 1]), divisor,
                      buffer, to.subspan(static_cast<size_t>(ids[starts[k]]) * row, row));
  });
}

struct SparseSegmentsCompute {
  SegmentDivisor divisor;

  Status operator()(const SparseSegmentsArguments& arguments, DeviceContext& device) const {
    TROUPE_RETURN_IF_FAILED(check_indices(arguments.indices, arguments.data.shape()[0]));
    TROUPE_RETURN_IF_FAILED(check_ids(arguments));
    if (arguments.output.elements() == 0) return {};
    with_type(RealTypes{}, arguments.data.dtype(), [&]<class T>(std::type_identity<T>) {
      compute_segments_of<T>(arguments, divisor, device.pool());
    });
    return {};
  }
};

/// Adds the gradient op `Op`: it takes the gradient, the indices, the ids and the number of rows of data.
template <const char* const& Op>
void sparse_segments_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const auto one = [&](int64_t value) { return integer_constants(scope, Dims{value}); };
  const Output rows =
      scope.add_one("StridedSlice", {shape_of(scope, context.input(0)), one(0), one(1), one(1)},
                    {{"shrink_axis_mask", int64_t{1}}});
  context.set(0, scope.add_one(Op, {context.gradient(), context.input(1), context.input(2), rows}));
}

constexpr const char* sum_gradient_op = "SparseSegmentSumGrad";
constexpr const char* mean_gradient_op = "SparseSegmentMeanGrad";
constexpr const char* sqrt_n_gradient_op = "SparseSegmentSqrtNGrad";

void add_sparse_segments(OpLibrary& library, const std::string& name, const std::string& constructor,
                         const char* types, SegmentDivisor divisor, GradientFunction gradient) {
  const auto add = [&](const std::string& op, bool takes_count) {
    OpDefBuilder builder(op);
    builder.input("data: T").input("indices: Tidx");
    if (takes_count)
      builder.input("segment_ids: Tsegmentids").host_input("num_segments: Tnumsegments");
    else
      builder.host_input("segment_ids: Tsegmentids");
    builder.output("output: T").attr(types).attr("Tidx: {int32, int64} = int32");
    if (takes_count) builder.attr("Tnumsegments: {int32, int64} = int32");
    builder.attr("Tsegmentids: {int32, int64} = int32").shape(sparse_segments_shape).gradient(gradient);
    builder.constructor(constructor + (takes_count
                                           ? "_with_num_segments(data, indices, segment_ids, num_segments)"
                                           : "(data, indices, segment_ids)"));
    library.op(builder);
    library.kernel(cpu_kernel(op, check_sparse_segments, SparseSegmentsCompute{divisor}));
  };
  add(name, false);
  add(name + "WithNumSegments", true);
}

}  // namespace

Status check_segment_shapes(const PartialShape& rows, std::string_view name, const PartialShape& indices,
                            const PartialShape& ids) {
  if (rows.has_rank(0))
    return invalid_argument(std::string(name) + " is a scalar; it must have at least one dimension");
  const PartialShape vector = PartialShape::of_rank(1);
  if (!indices.compatible_with(vector) || !ids.compatible_with(vector) || !indices.compatible_with(ids))
    return invalid_argument("indices has shape " + indices.text() + " and segment_ids has shape " +
                            ids.text() + "; they must be vectors of the same size");
  return {};
}

Result<SparseSegmentsArguments> check_sparse_segments(KernelContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1), &ids = context.input(2);
  TROUPE_RETURN_IF_FAILED(check_segment_shapes(data.shape(), "data", indices.shape(), ids.shape()));
  const bool counts_ids = context.inputs() == 3;
  TROUPE_ASSIGN(const int64_t segments,
                counts_ids ? count_of_segments(ids) : integer_scalar(context.input(3), "num_segments"));
  TROUPE_RETURN_IF_FAILED(check_segment_count(segments));
  TROUPE_ASSIGN(Tensor* const output, segments_output(context, data, segments));
  return SparseSegmentsArguments{data, indices, ids, counts_ids, segments, *output};
}

void add_sparse_segment_ops(OpLibrary& library) {
  add_sparse_segments(library, "SparseSegmentSum", "sparse_segment_sum", "T: realnumbertype",
                      SegmentDivisor::One, sparse_segments_gradient<sum_gradient_op>);
  add_sparse_segments(library, "SparseSegmentMean", "sparse_segment_mean", "T: floattype",
                      SegmentDivisor::Count, sparse_segments_gradient<mean_gradient_op>);
  add_sparse_segments(library, "SparseSegmentSqrtN", "sparse_segment_sqrt_n", "T: floattype",
                      SegmentDivisor::RootOfCount, sparse_segments_gradient<sqrt_n_gradient_op>);
}

}  // namespace troupe
