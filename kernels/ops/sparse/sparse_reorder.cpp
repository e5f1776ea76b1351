// SparseReorder(input_indices, input_values, input_shape): the same sparse tensor with its positions in row-major order. Values
// at one position keep their order. Any dtype. Fails with InvalidArgument for a position outside input_shape.
#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct ReorderArguments {
  SparseTensor input;
  Tensor &indices, &values;
};

Status reorder_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  context.set_output(0, indices);
  context.set_output(1, PartialShape{indices[0]});
  return {};
}

Result<ReorderArguments> check_reorder(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  TROUPE_ASSIGN(Tensor* const indices, context.output(0, input.indices.shape()));
  TROUPE_ASSIGN(Tensor* const values, context.output(1, input.values.shape()));
  return ReorderArguments{std::move(input), *indices, *values};
}

Status compute_reorder(const ReorderArguments& arguments, DeviceContext& device) {
  const SparseTensor& input = arguments.input;
  TROUPE_ASSIGN(const Tensor numbers, numbers_of(device, input));
  TROUPE_ASSIGN(const auto order, ascending_order(device, numbers.as<int64_t>()));
  if (order) {
    take_entries(device.pool(), input.indices, input.values, order->as<int64_t>(), arguments.indices,
                 arguments.values);
  } else {
    copy_elements(device.pool(), input.indices, arguments.indices);
    copy_elements(device.pool(), input.values, arguments.values);
  }
  return {};
}

/// The numbers of the values, reordered likewise, say where each value went.
void reorder_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output indices = context.input(0), values = context.input(1);
  const Output size = scope.add_one("Size", {values});
  const Output numbers =
      scope.add_one("Range", {integer_constant(scope, 0), size, integer_constant(scope, 1)});
  const NodeId reordered = scope.add("SparseReorder", {indices, numbers, context.input(2)});
  const Output places = scope.add_one("InvertPermutation", {scope.graph().output(reordered, 1)});
  context.set(1, scope.add_one("Gather", {context.gradient(1), places}));
}

}  // namespace

void add_sparse_reorder(OpLibrary& library) {
  library.op(OpDefBuilder("SparseReorder")
                 .input("input_indices: int64")
                 .input("input_values: T")
                 .host_input("input_shape: int64")
                 .output("output_indices: int64")
                 .output("output_values: T")
                 .attr("T: type")
                 .shape(reorder_shape)
                 .gradient(reorder_gradient));
  library.kernel(cpu_kernel("SparseReorder", check_reorder, compute_reorder));
}

}  // namespace troupe
