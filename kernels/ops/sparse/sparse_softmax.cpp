// SparseSoftmax(sp_indices, sp_values, sp_shape): the values of the softmax of each row, which the last dimension holds, over
// the values that are there. The tensor has rank 2 or more. The values of each row are next to each other, and rows in
// row-major order. Half, float, double; half is computed in float. Fails with InvalidArgument for a position outside sp_shape
// or rows out of order.
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/vector_loops.h"
#include "kernels/ops/math/segments.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct SparseSoftmaxArguments {
  SparseTensor input;
  Tensor& output;
};

Status check_softmax_rank(int64_t rank) {
  if (rank >= 2 || rank == unknown_dim) return {};
  return invalid_argument("the sparse tensor has rank " + std::to_string(rank) + "; it must be 2 or more");
}

Status sparse_softmax_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  TROUPE_RETURN_IF_FAILED(check_softmax_rank(indices[1]));
  context.set_output(0, PartialShape{indices[0]});
  return {};
}

Result<SparseSoftmaxArguments> check_sparse_softmax(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  TROUPE_RETURN_IF_FAILED(check_softmax_rank(static_cast<int64_t>(input.rank())));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.values.shape()));
  return SparseSoftmaxArguments{std::move(input), *output};
}

/// Returns the row-major number of the row of each value. Fails with InvalidArgument if the numbers do not ascend.
Result<Tensor> rows_of_values(const SparseTensor& input, DeviceContext& device) {
  Dims strides(input.rank());
  int64_t stride = 1;
  for (size_t d = input.rank() - 1; d-- > 0;) {
    strides[d] = stride;
    stride *= input.dims[d];
  }
  TROUPE_ASSIGN(Tensor rows, offsets_of(device, input, strides));
  TROUPE_RETURN_IF_FAILED(check_ascending(input, rows.as<int64_t>()));
  return rows;
}

Status compute_sparse_softmax(const SparseSoftmaxArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor rows, rows_of_values(arguments.input, device));
  Tensor& output = arguments.output;
  if (output.elements() == 0) return {};
  const DType dtype = compute_dtype(output.dtype());
  TROUPE_ASSIGN(const Tensor x, converted(device, arguments.input.values, dtype));
  Tensor wide;
  if (dtype != output.dtype()) {
    TROUPE_ASSIGN(wide, Tensor::allocate(dtype, output.shape(), device.memory()));
  }
  Tensor& y = wide.valid() ? wide : output;
  const auto starts = starts_of_runs(rows.as<int64_t>());
  const auto softmax = softmax_loops(dtype).softmax;
  const std::byte* const from = x.data();
  std::byte* const to = y.mutable_data();
  const size_t size = size_of(dtype), runs = starts.size() - 1;
  parallel_items(device.pool(), runs, 8 * x.bytes() / runs, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      softmax(from + starts[i] * size, to + starts[i] * size, starts[i + 1] - starts[i]);
  });
  if (wide.valid()) convert(device.pool(), wide, output);
  return {};
}

/// (g - sum of g y over the row) y
void sparse_softmax_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output indices = context.input(0), shape = context.input(2), g = context.gradient(),
               y = context.output(0);
  const Output sums =
      scope.add_one("SparseReduceSum", {indices, mul(scope, g, y), shape, integer_constant(scope, -1)},
                    {{"keep_dims", true}});
  const Output rest = scope.add_one("SparseDenseCwiseAdd", {indices, g, shape, neg(scope, sums)});
  context.set(1, mul(scope, rest, y));
}

}  // namespace

void add_sparse_softmax(OpLibrary& library) {
  library.op(OpDefBuilder("SparseSoftmax")
                 .input("sp_indices: int64")
                 .input("sp_values: T")
                 .host_input("sp_shape: int64")
                 .output("output: T")
                 .attr("T: {half, float, double}")
                 .constructor("sparse_softmax(sp_indices, sp_values, sp_shape)")
                 .shape(sparse_softmax_shape)
                 .gradient(sparse_softmax_gradient));
  library.kernel(cpu_kernel("SparseSoftmax", check_sparse_softmax, compute_sparse_softmax));
}

}  // namespace troupe
