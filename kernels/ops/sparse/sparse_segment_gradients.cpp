// Gradients of the ops of sparse_segments.cpp with respect to their data, of which indices chose rows:
//   SparseSegmentSumGrad, SparseSegmentMeanGrad, SparseSegmentSqrtNGrad(grad, indices, segment_ids, output_dim0)
// The output has output_dim0 rows. Row r is the sum of grad[segment_ids[i]] for all i with indices[i] == r, in order of i; each
// term is divided by 1, the number of times that its segment occurs in segment_ids, or the square root of that number. half and
// bfloat16 are summed in float. Fails with InvalidArgument for an index that is not in [0, output_dim0), or an id that is not
// that of a row of grad. The ids may be in any order.
//   SparseSegmentSumGradV2, SparseSegmentMeanGradV2, SparseSegmentSqrtNGradV2(grad, indices, segment_ids, dense_output_dim0)
// yield only the rows that occur in indices: output, and their numbers, sorted_unique_indices.
#include <algorithm>
#include <vector>

#include "kernels/core/arguments.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/sparse/sparse_segments.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

Status check_rows(int64_t rows) {
  if (rows >= 0) return {};
  return invalid_argument("output_dim0 is " + std::to_string(rows) + "; it must not be negative");
}

Status segment_gradient_shape(ShapeContext& context) {
  const PartialShape& grad = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_segment_shapes(grad, "grad", context.input(1), context.input(2)));
  TROUPE_RETURN_IF_FAILED(context.with_rank(3, 0).status());
  const auto rows = constant_integer(context, 3);
  if (rows) TROUPE_RETURN_IF_FAILED(check_rows(*rows));
  if (grad.known_rank())
    context.set_output(0, partial(Dims(grad.dims().subspan(1)).with(0, rows.value_or(unknown_dim))));
  return {};
}

Status allocate_rows(SegmentGradientArguments& arguments, KernelContext& context, int64_t rows) {
  const Tensor& grad = arguments.grad;
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(Dims(grad.shape().dims().subspan(1)).with(0, rows), grad.dtype()));
  TROUPE_ASSIGN(arguments.output, context.output(0, shape));
  return {};
}

Result<SegmentGradientArguments> check_inputs(KernelContext& context) {
  const Tensor &grad = context.input(0), &indices = context.input(1), &ids = context.input(2);
  TROUPE_RETURN_IF_FAILED(check_segment_shapes(grad.shape(), "grad", indices.shape(), ids.shape()));
  TROUPE_RETURN_IF_FAILED(check_rank(context, 3, 0));
  TROUPE_ASSIGN(const int64_t rows, integer_scalar(context.input(3), "output_dim0"));
  TROUPE_RETURN_IF_FAILED(check_rows(rows));
  return SegmentGradientArguments{grad, indices, ids, rows};
}

Status check_numbers(const SegmentGradientArguments& arguments) {
  TROUPE_RETURN_IF_FAILED(check_indices(arguments.indices, arguments.rows));
  return check_indices(arguments.segment_ids, arguments.grad.shape()[0], "segment_ids");
}

/// Adds the terms to `sums`, which are 0.
template <class T>
void add_terms(const SegmentGradientArguments& arguments, const Dims& indices, SegmentDivisor divisor,
               Pool& pool, std::span<ComputeType<T>> sums) {
  const Dims ids = integers(arguments.segment_ids);
  Dims counts(static_cast<size_t>(arguments.grad.shape()[0]));
  for (const int64_t id : ids) ++counts[static_cast<size_t>(id)];
  const auto grad = arguments.grad.as<T>();
  const size_t row = grad.size() / counts.size();
  change_rows(pool, indices, 3 * row * sizeof(T), [&](size_t i) {
    const auto id = static_cast<size_t>(ids[i]);
    add_scaled<T>(sums.subspan(static_cast<size_t>(indices[i]) * row, row),
                  segment_factor<T>(divisor, static_cast<size_t>(counts[id])), grad.subspan(id * row, row));
  });
}

/// Writes the rows of the output; indices has for each term the row to which it belongs.
Status sum_terms(const SegmentGradientArguments& arguments, const Dims& indices, SegmentDivisor divisor,
                 DeviceContext& device) {
  Tensor& output = *arguments.output;
  const bool narrow = is_narrow(output.dtype());
  Tensor sums;
  if (narrow) {
    TROUPE_ASSIGN(sums, Tensor::allocate(DType::Float, output.shape(), device.memory()));
  }
  Tensor& to = narrow ? sums : output;
  fill(device.pool(), to);
  if (!indices.empty() && arguments.grad.elements() != 0)
    with_type(AllFloatTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
      add_terms<T>(arguments, indices, divisor, device.pool(), to.write<ComputeType<T>>());
    });
  if (narrow) convert(device.pool(), sums, output);
  return {};
}

struct SegmentGradientCompute {
  SegmentDivisor divisor;

  Status operator()(const SegmentGradientArguments& arguments, DeviceContext& device) const {
    TROUPE_RETURN_IF_FAILED(check_numbers(arguments));
    return sum_terms(arguments, integers(arguments.indices), divisor, device);
  }
};

// ---- Only the rows that occur

Status occurring_gradient_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(segment_gradient_shape(context));
  const PartialShape& grad = context.input(0);
  if (grad.known_rank()) context.set_output(0, partial(Dims(grad.dims().subspan(1)).with(0, unknown_dim)));
  context.set_output(1, PartialShape{unknown_dim});
  return {};
}

Status find_occurring(SegmentGradientArguments& arguments, DeviceContext& /*device*/) {
  TROUPE_RETURN_IF_FAILED(check_numbers(arguments));
  const Dims indices = integers(arguments.indices);
  std::vector<int64_t> sorted(indices.begin(), indices.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  arguments.to = Dims(indices.size());
  for (size_t i = 0; i < indices.size(); ++i)
    arguments.to[i] = std::ranges::lower_bound(sorted, indices[i]) - sorted.begin();
  arguments.occurring = Dims(std::span<const int64_t>(sorted));
  return {};
}

Status allocate_occurring(SegmentGradientArguments& arguments, KernelContext& context) {
  const auto rows = static_cast<int64_t>(arguments.occurring.size());
  TROUPE_ASSIGN(arguments.unique, vector_output(context, 1, rows));
  return allocate_rows(arguments, context, rows);
}

struct OccurringGradientCompute {
  SegmentDivisor divisor;

  Status operator()(const SegmentGradientArguments& arguments, DeviceContext& device) const {
    with_type(TypeList<int32_t, int64_t>{}, arguments.unique->dtype(), [&]<class T>(std::type_identity<T>) {
      const auto to = arguments.unique->write<T>();
      for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(arguments.occurring[i]);
    });
    return sum_terms(arguments, arguments.to, divisor, device);
  }
};

OpDefBuilder segment_gradient_op(const std::string& name, const char* rows) {
  return OpDefBuilder(name)
      .input("grad: T")
      .input("indices: Tidx")
      .input("segment_ids: Tsegmentids")
      .host_input(std::string(rows) + ": int32")
      .output("output: T")
      .attr("T: floattype")
      .attr("Tidx: {int32, int64} = int32")
      .attr("Tsegmentids: {int32, int64} = int32");
}

}  // namespace

Result<SegmentGradientArguments> check_segment_gradient(KernelContext& context) {
  TROUPE_ASSIGN(SegmentGradientArguments arguments, check_inputs(context));
  TROUPE_RETURN_IF_FAILED(allocate_rows(arguments, context, arguments.rows));
  return arguments;
}

void add_sparse_segment_gradient_ops(OpLibrary& library) {
  const auto add = [&](const std::string& name, SegmentDivisor divisor) {
    library.op(segment_gradient_op(name, "output_dim0").shape(segment_gradient_shape));
    library.kernel(cpu_kernel(name, check_segment_gradient, SegmentGradientCompute{divisor}));
    library.op(segment_gradient_op(name + "V2", "dense_output_dim0")
                   .output("sorted_unique_indices: Tidx")
                   .shape(occurring_gradient_shape));
    library.kernel(measured_cpu_kernel(name + "V2", check_inputs, find_occurring, allocate_occurring,
                                       OccurringGradientCompute{divisor}));
  };
  add("SparseSegmentSumGrad", SegmentDivisor::One);
  add("SparseSegmentMeanGrad", SegmentDivisor::Count);
  add("SparseSegmentSqrtNGrad", SegmentDivisor::RootOfCount);
}

}  // namespace troupe
