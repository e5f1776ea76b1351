// SparseConcat(indices, values, shapes): N sparse tensors one after the other along dimension concat_dim, in [-rank, rank);
// their other dimensions must be equal. The positions of the output are in row-major order, whatever the order of the inputs.
// Any dtype. Fails with InvalidArgument for a position outside its shape, or if the output has more elements than an int64
// holds.
#include <vector>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/scratch.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct SparseConcatArguments {
  std::vector<SparseTensor> inputs;
  size_t axis;
  Dims dims;  ///< the dense shape of the output
  Tensor &indices, &values;
};

SparseInputs inputs_of(size_t i, size_t inputs) { return {i, inputs / 3 + i, inputs / 3 * 2 + i}; }

Status sparse_concat_shape(ShapeContext& context) {
  int64_t count = 0;
  PartialShape merged = PartialShape::of_rank(2);
  for (size_t i = 0; i < context.inputs() / 3; ++i) {
    TROUPE_ASSIGN(const auto indices, sparse_shape(context, inputs_of(i, context.inputs())));
    if (indices[1] != unknown_dim && merged[1] != unknown_dim && indices[1] != merged[1])
      return invalid_argument("the inputs are of different ranks");
    TROUPE_ASSIGN(merged, merge(merged, PartialShape{unknown_dim, indices[1]}));
    if (count != unknown_dim) count = indices[0] == unknown_dim ? unknown_dim : count + indices[0];
  }
  context.set_output(0, PartialShape{count, merged[1]});
  context.set_output(1, PartialShape{count});
  context.set_output(2, PartialShape{merged[1]});
  return {};
}

/// Returns the dense shape of the output.
Result<Dims> joined_dims(std::span<const SparseTensor> inputs, size_t axis) {
  Dims dims = inputs[0].dims;
  for (const SparseTensor& input : inputs.subspan(1)) {
    if (!(input.dims.without(axis) == dims.without(axis)))
      return invalid_argument("shapes " + text_of(inputs[0].dims) + " and " + text_of(input.dims) +
                              " differ in another dimension than concat_dim " + std::to_string(axis));
    if (__builtin_add_overflow(dims[axis], input.dims[axis], &dims[axis]))
      return invalid_argument("the sum of the dimensions " + std::to_string(axis) +
                              " of shapes does not fit an int64");
  }
  TROUPE_RETURN_IF_FAILED(check_dense_shape(dims, "the shape of the output"));
  return dims;
}

Result<SparseConcatArguments> check_sparse_concat(KernelContext& context) {
  std::vector<SparseTensor> inputs;
  int64_t count = 0;
  for (size_t i = 0; i < context.inputs() / 3; ++i) {
    TROUPE_ASSIGN(SparseTensor input, read_sparse(context, inputs_of(i, context.inputs())));
    if (i != 0 && input.rank() != inputs[0].rank())
      return invalid_argument("the inputs are of different ranks");
    count += input.indices.shape()[0];
    inputs.push_back(std::move(input));
  }
  TROUPE_ASSIGN(const size_t axis,
                resolve_axis(context.node().attrs.get<int64_t>("concat_dim"), inputs[0].rank()));
  TROUPE_ASSIGN(const Dims dims, joined_dims(inputs, axis));
  TROUPE_ASSIGN(Tensor* const indices, indices_output(context, 0, count, dims.size()));
  TROUPE_ASSIGN(Tensor* const values, vector_output(context, 1, count));
  TROUPE_RETURN_IF_FAILED(set_shape_output(context, 2, dims));
  return SparseConcatArguments{std::move(inputs), axis, dims, *indices, *values};
}

/// Writes the inputs one after the other. Returns the row-major numbers of the positions.
Result<Tensor> write_all(const SparseConcatArguments& arguments, DeviceContext& device) {
  const Dims strides = strides_of(arguments.dims);
  const size_t rank = arguments.dims.size();
  TROUPE_ASSIGN(Tensor numbers, scratch_vector<int64_t>(device, arguments.values.elements()));
  int64_t first = 0, start = 0;
  for (const SparseTensor& input : arguments.inputs) {
    TROUPE_ASSIGN(const Tensor offsets, offsets_of(device, input, strides));
    copy_elements(device.pool(), input.indices, arguments.indices, first * static_cast<int64_t>(rank));
    copy_elements(device.pool(), input.values, arguments.values, first);
    int64_t* const index =
        arguments.indices.write<int64_t>().data() + static_cast<size_t>(first) * rank + arguments.axis;
    int64_t* const number = numbers.write<int64_t>().data() + first;
    const auto offset = offsets.as<int64_t>();
    for (size_t i = 0; i < offset.size(); ++i) {
      index[i * rank] += start;
      number[i] = offset[i] + start * strides[arguments.axis];
    }
    first += input.values.elements();
    start += input.dims[arguments.axis];
  }
  return numbers;
}

Status compute_sparse_concat(const SparseConcatArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor numbers, write_all(arguments, device));
  TROUPE_ASSIGN(const auto order, ascending_order(device, numbers.as<int64_t>()));
  if (!order) return {};
  Tensor &indices = arguments.indices, &values = arguments.values;
  TROUPE_ASSIGN(Tensor all_indices, Tensor::allocate(indices.dtype(), indices.shape(), device.memory()));
  TROUPE_ASSIGN(Tensor all_values, Tensor::allocate(values.dtype(), values.shape(), device.memory()));
  copy_elements(device.pool(), indices, all_indices);
  copy_elements(device.pool(), values, all_values);
  take_entries(device.pool(), all_indices, all_values, order->as<int64_t>(), indices, values);
  return {};
}

}  // namespace

void add_sparse_concat(OpLibrary& library) {
  library.op(OpDefBuilder("SparseConcat")
                 .input("indices: N * int64")
                 .input("values: N * T")
                 .host_input("shapes: N * int64")
                 .output("output_indices: int64")
                 .output("output_values: T")
                 .host_output("output_shape: int64")
                 .attr("concat_dim: int")
                 .attr("N: int >= 2")
                 .attr("T: type")
                 .shape(sparse_concat_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("SparseConcat", check_sparse_concat, compute_sparse_concat));
}

}  // namespace troupe
