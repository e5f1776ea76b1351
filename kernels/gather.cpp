// Rows by number, and sums of rows by number (features.md P1).
//   Gather(params, indices)         rows params[indices[i...]]; one index gives a row without its dimension
//   ResourceGather(resource, indices)   the same of the value of a variable
//   UnsortedSegmentSum(data, segment_ids, num_segments)
//                                   row k is the sum of the data whose id is k, in order; zeros for none
// An index out of range is InvalidArgument with its position and value. The gradient of Gather is sparse:
// IndexedSlices.
#include <algorithm>

#include "kernels/all_ops.h"
#include "kernels/arguments.h"
#include "kernels/combine.h"
#include "kernels/parallel.h"
#include "kernels/rows.h"
#include "kernels/update.h"

namespace troupe {
namespace {

// ---- Gather

Status gather_shape(ShapeContext& context) {
  const PartialShape& params = context.input(0);
  if (!params.known_rank()) return {};
  if (params.rank() == 0) return invalid_argument("params is a scalar: it has no rows");
  context.set_output(0, concatenate(context.input(1), partial(params.dims().subspan(1))));
  return {};
}

Status run_gather(KernelContext& context) {
  const Tensor &params = context.input(0), &indices = context.input(1);
  if (params.shape().rank() == 0) return invalid_argument("params is a scalar: it has no rows");
  TROUPE_RETURN_IF_FAILED(check_indices(indices, params.shape()[0]));
  Dims dims(indices.shape().dims());
  dims.append(params.shape().dims().subspan(1));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, params.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  if (shape.elements() == 0) return {};
  take_rows(context.device().pool(), params, integers(indices), *output,
            static_cast<size_t>(shape.elements() / indices.elements()));
  return {};
}

/// Row i of the gradient, both flattened to lists of rows, belongs to row indices[i] of params.
void gather_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool is_variable = scope.dtype(context.input(0)) == DType::Resource;
  const Output shape =
      is_variable ? scope.add_one("VariableShape", {context.input(0)}) : shape_of(scope, context.input(0));
  const Output count = scope.add_one(
      "Reshape", {scope.add_one("Size", {context.input(1)}), integer_constants(scope, Dims{1})});
  const Output row =
      scope.add_one("Slice", {shape, integer_constants(scope, Dims{1}), integer_constants(scope, Dims{-1})});
  const Output values_shape = scope.add_one("ConcatV2", {count, row, integer_constant(scope, 0)});
  const Output values = scope.add_one("Reshape", {context.gradient(), values_shape});
  const Output indices = scope.add_one("Reshape", {context.input(1), count});
  context.set(0, IndexedSlices{values, indices, shape});
}

// ---- UnsortedSegmentSum

Status segment_sum_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  const PartialShape &data = context.input(0), &ids = context.input(1);
  if (!data.known_rank() || !ids.known_rank()) return {};
  TROUPE_ASSIGN(const Dims row, row_dims(data.dims(), ids.dims(), "data", "segment_ids"));
  const int64_t segments = constant_integer(context, 2).value_or(unknown_dim);
  if (segments < unknown_dim) return invalid_argument("num_segments is " + std::to_string(segments));
  context.set_output(0, partial(row.with(0, segments)));
  return {};
}

/// One thread adds what belongs to one column block, so every sum is in the order of the data.
template <class T>
void sum_segments(Pool& pool, std::span<const T> data, std::span<const int64_t> ids, std::span<T> sums,
                  size_t row) {
  const size_t block = std::max<size_t>(block_cost / std::max<size_t>(2 * ids.size() * sizeof(T), 1), 64);
  pool.blocks(row, block, [&](size_t begin, size_t end) {
    for (size_t i = 0; i < ids.size(); ++i)
      combine_into<Add, T>(sums.subspan(static_cast<size_t>(ids[i]) * row + begin, end - begin),
                           data.subspan(i * row + begin, end - begin));
  });
}

Status run_segment_sum(KernelContext& context) {
  const Tensor &data = context.input(0), &ids = context.input(1);
  TROUPE_ASSIGN(const int64_t segments, integer_scalar(context.input(2), "num_segments"));
  TROUPE_ASSIGN(const Dims dims, row_dims(data.shape().dims(), ids.shape().dims(), "data", "segment_ids"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims.with(0, segments), data.dtype()));
  TROUPE_RETURN_IF_FAILED(check_indices(ids, segments, "segment_ids"));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  fill(context.device().pool(), *output);
  if (data.elements() == 0) return {};
  const auto row = static_cast<size_t>(data.elements() / ids.elements());
  const Dims rows = integers(ids);
  with_type(NumberTypes{}, data.dtype(), [&]<class T>(std::type_identity<T>) {
    sum_segments<T>(context.device().pool(), data.as<T>(), rows, output->write<T>(), row);
  });
  return {};
}

void segment_sum_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("Gather", {context.gradient(), context.input(1)}));
}

}  // namespace

void add_gather_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Gather")
                 .input("params: Tparams")
                 .input("indices: Tindices")
                 .output("output: Tparams")
                 .attr("validate_indices: bool = true")
                 .attr("Tparams: type")
                 .attr("Tindices: {int32, int64}")
                 .constructor("gather(params, indices, validate_indices)")
                 .shape(gather_shape)
                 .gradient(gather_gradient));
  library.kernel(cpu_kernel("Gather", run_gather));
  library.op(OpDefBuilder("ResourceGather")
                 .input("resource: resource")
                 .input("indices: Tindices")
                 .output("output: dtype")
                 .attr("validate_indices: bool = true")
                 .attr("dtype: type")
                 .attr("Tindices: {int32, int64}")
                 .effect(Effect::State)
                 .shape(gather_shape)
                 .gradient(gather_gradient));
  library.kernel(cpu_kernel("ResourceGather", run_gather));
  library.op(OpDefBuilder("UnsortedSegmentSum")
                 .input("data: T")
                 .input("segment_ids: Tindices")
                 .input("num_segments: int32")
                 .output("output: T")
                 .attr("T: numbertype")
                 .attr("Tindices: {int32, int64}")
                 .constructor("unsorted_segment_sum(data, segment_ids, num_segments)")
                 .shape(segment_sum_shape)
                 .gradient(segment_sum_gradient));
  library.kernel(cpu_kernel("UnsortedSegmentSum", run_segment_sum).host({"num_segments"}));
}

}  // namespace troupe
