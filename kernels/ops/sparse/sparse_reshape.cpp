// SparseReshape(input_indices, input_shape, new_shape): the positions of the same values in a dense tensor of shape new_shape,
// in which one element may be -1 and follows from the number of elements. The row-major number of each position stays the same.
// Fails with InvalidArgument if the numbers of elements differ, or for a position outside input_shape.
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/array/reshape.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct SparseReshapeArguments {
  Positions input;
  Dims dims;  ///< the new shape
  Tensor& indices;
};

Status sparse_reshape_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto shape, context.with_rank(1, 1));
  TROUPE_ASSIGN(const auto new_shape, context.with_rank(2, 1));
  const auto merged = merge(indices, PartialShape{unknown_dim, shape[0]});
  if (!merged)
    return invalid_argument("input_indices of shape " + indices.text() + " and input_shape of shape " +
                            shape.text() + " do not fit: they must have shapes [n,rank] and [rank]");
  context.set_output(0, PartialShape{indices[0], new_shape[0]});
  context.set_output(1, new_shape);
  return {};
}

Result<SparseReshapeArguments> check_sparse_reshape(KernelContext& context) {
  for (const size_t i : {1, 2})
    TROUPE_RETURN_IF_FAILED(integer_vector(context.input(i), i == 1 ? "input_shape" : "new_shape").status());
  TROUPE_ASSIGN(Positions input, read_positions(context, 0, 1));
  TROUPE_ASSIGN(const Dims dims, resolved_dims(integers(context.input(2)), input.dims));
  TROUPE_RETURN_IF_FAILED(check_dense_shape(dims, "new_shape"));
  TROUPE_ASSIGN(Tensor* const indices, indices_output(context, 0, input.indices.shape()[0], dims.size()));
  TROUPE_RETURN_IF_FAILED(set_shape_output(context, 1, dims));
  return SparseReshapeArguments{std::move(input), dims, *indices};
}

Status compute_sparse_reshape(const SparseReshapeArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor numbers, numbers_of(device, arguments.input));
  const auto from = numbers.as<int64_t>();
  const Dims& dims = arguments.dims;
  int64_t* const to = arguments.indices.write<int64_t>().data();
  parallel_items(device.pool(), from.size(), 32 * (dims.size() + 1), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      auto number = static_cast<uint64_t>(from[i]);
      for (size_t d = dims.size(); d-- > 0;) {
        const auto dim = static_cast<uint64_t>(dims[d]);
        to[i * dims.size() + d] = static_cast<int64_t>(number % dim);
        number /= dim;
      }
    }
  });
  return {};
}

}  // namespace

void add_sparse_reshape(OpLibrary& library) {
  library.op(OpDefBuilder("SparseReshape")
                 .input("input_indices: int64")
                 .host_input("input_shape: int64")
                 .host_input("new_shape: int64")
                 .output("output_indices: int64")
                 .host_output("output_shape: int64")
                 .shape(sparse_reshape_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("SparseReshape", check_sparse_reshape, compute_sparse_reshape));
}

}  // namespace troupe
