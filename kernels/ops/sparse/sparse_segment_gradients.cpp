// Gradients of the ops of sparse_segments.cpp with respect to their data, of which indices chose rows:
//   SparseSegmentSumGrad, SparseSegmentMeanGrad, SparseSegmentSqrtNGrad(grad, indices, segment_ids, output_dim0)
// The output has output_dim0 rows. Row r is the sum of grad[segment_ids[i]] for all i with indices[i] == r, in order of i; each
// term is divided by 1, the number of times that its segment occurs in segment_ids, or the square root of that number. half and
// bfloat16 are summed in float. Fails with InvalidArgument for an index that is not in [0, output_dim0), or an id that is not
// that of a row of grad. The ids may be in any order.
#include <cmath>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/sparse/sparse_segments.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct SegmentGradientArguments {
  const Tensor& grad;         ///< [segments, ...]
  const Tensor& indices;      ///< int32 or int64 [count]; not checked yet
  const Tensor& segment_ids;  ///< int32 or int64 [count]; not checked yet
  Tensor& output;             ///< [output_dim0, ...]
};

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

Result<SegmentGradientArguments> check_segment_gradient(KernelContext& context) {
  const Tensor &grad = context.input(0), &indices = context.input(1), &ids = context.input(2);
  TROUPE_RETURN_IF_FAILED(check_segment_shapes(grad.shape(), "grad", indices.shape(), ids.shape()));
  TROUPE_RETURN_IF_FAILED(check_rank(context, 3, 0));
  TROUPE_ASSIGN(const int64_t rows, integer_scalar(context.input(3), "output_dim0"));
  TROUPE_RETURN_IF_FAILED(check_rows(rows));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(Dims(grad.shape().dims().subspan(1)).with(0, rows), grad.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return SegmentGradientArguments{grad, indices, ids, *output};
}

double one(int64_t) { return 1; }
double reciprocal(int64_t count) { return 1 / static_cast<double>(count); }
double reciprocal_of_root(int64_t count) { return 1 / std::sqrt(static_cast<double>(count)); }

/// The factor of each term of a segment that has `count` terms.
using FactorOf = double (*)(int64_t count);

/// Adds the terms to `sums`, which are 0.
template <class T>
void add_terms(const SegmentGradientArguments& arguments, FactorOf factor_of, Pool& pool,
               std::span<ComputeType<T>> sums) {
  const Dims indices = integers(arguments.indices), ids = integers(arguments.segment_ids);
  Dims counts(static_cast<size_t>(arguments.grad.shape()[0]));
  for (const int64_t id : ids) ++counts[static_cast<size_t>(id)];
  const auto grad = arguments.grad.as<T>();
  const size_t row = grad.size() / counts.size();
  change_rows(pool, indices, 3 * row * sizeof(T), [&](size_t i) {
    const auto id = static_cast<size_t>(ids[i]);
    add_scaled<T>(sums.subspan(static_cast<size_t>(indices[i]) * row, row),
                  static_cast<ComputeType<T>>(factor_of(counts[id])), grad.subspan(id * row, row));
  });
}

struct SegmentGradientCompute {
  FactorOf factor_of;

  Status operator()(const SegmentGradientArguments& arguments, DeviceContext& device) const {
    Tensor& output = arguments.output;
    TROUPE_RETURN_IF_FAILED(check_indices(arguments.indices, output.shape()[0]));
    TROUPE_RETURN_IF_FAILED(check_indices(arguments.segment_ids, arguments.grad.shape()[0], "segment_ids"));
    const bool narrow = is_narrow(output.dtype());
    Tensor sums;
    if (narrow) {
      TROUPE_ASSIGN(sums, Tensor::allocate(DType::Float, output.shape(), device.memory()));
    }
    Tensor& to = narrow ? sums : output;
    fill(device.pool(), to);
    if (arguments.indices.elements() != 0 && arguments.grad.elements() != 0)
      with_type(AllFloatTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
        add_terms<T>(arguments, factor_of, device.pool(), to.write<ComputeType<T>>());
      });
    if (narrow) convert(device.pool(), sums, output);
    return {};
  }
};

}  // namespace

void add_sparse_segment_gradient_ops(OpLibrary& library) {
  const auto add = [&](const char* name, FactorOf factor_of) {
    library.op(OpDefBuilder(name)
                   .input("grad: T")
                   .input("indices: Tidx")
                   .input("segment_ids: Tsegmentids")
                   .host_input("output_dim0: int32")
                   .output("output: T")
                   .attr("T: floattype")
                   .attr("Tidx: {int32, int64} = int32")
                   .attr("Tsegmentids: {int32, int64} = int32")
                   .shape(segment_gradient_shape));
    library.kernel(cpu_kernel(name, check_segment_gradient, SegmentGradientCompute{factor_of}));
  };
  add("SparseSegmentSumGrad", one);
  add("SparseSegmentMeanGrad", reciprocal);
  add("SparseSegmentSqrtNGrad", reciprocal_of_root);
}

}  // namespace troupe
