// SparseTensorDenseAdd(a_indices, a_values, a_shape, b): b, with the values of the sparse tensor added at their positions,
// which may be in any order; values at one position are all added, in their order. a_shape must be the shape of b. Any number;
// integers wrap around. Fails with InvalidArgument for a position outside a_shape.
#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct DenseAddArguments {
  SparseTensor a;
  const Tensor* b;  ///< null if the output has its memory and elements
  Tensor& output;
};

Status dense_add_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  PartialShape shape = context.input(3);
  const bool says_rank = indices[1] != unknown_dim && indices[1] <= static_cast<int64_t>(Shape::max_rank);
  if (says_rank && !shape.known_rank()) shape = PartialShape::of_rank(static_cast<size_t>(indices[1]));
  context.set_output(0, std::move(shape));
  return {};
}

Result<DenseAddArguments> check_dense_add(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor a, read_sparse(context, SparseInputs::from(0)));
  const Tensor& b = context.input(3);
  if (!std::ranges::equal(a.dims, b.shape().dims()))
    return invalid_argument("a_shape " + text_of(a.dims) + " is not the shape of b, " + b.shape().text());
  const std::byte* const elements = b.data();
  TROUPE_ASSIGN(Tensor* const output, context.forward(3, 0, Shape(b.shape())));
  return DenseAddArguments{std::move(a), output->data() == elements ? nullptr : &b, *output};
}

Status compute_dense_add(const DenseAddArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor numbers, numbers_of(device, arguments.a));
  Tensor& output = arguments.output;
  if (arguments.b) copy_elements(device.pool(), *arguments.b, output);
  with_type(NumberTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = arguments.a.values.as<T>();
    const auto to = output.write<T>();
    const auto places = numbers.as<int64_t>();
    change_rows(device.pool(), places, 3 * sizeof(T), [&](size_t i) {
      T& element = to[static_cast<size_t>(places[i])];
      element = T(Add::apply(static_cast<ComputeType<T>>(element), static_cast<ComputeType<T>>(values[i])));
    });
  });
  return {};
}

void dense_add_gradient(GradientContext& context) {
  context.set(1, context.scope().add_one("GatherNd", {context.gradient(), context.input(0)}));
  context.set(3, context.gradient());
}

}  // namespace

void add_sparse_dense_add(OpLibrary& library) {
  library.op(OpDefBuilder("SparseTensorDenseAdd")
                 .input("a_indices: Tindices")
                 .input("a_values: T")
                 .host_input("a_shape: Tindices")
                 .input("b: T")
                 .output("output: T")
                 .attr("T: numbertype")
                 .attr("Tindices: {int32, int64}")
                 .constructor("sparse_tensor_dense_add(a_indices, a_values, a_shape, b)")
                 .shape(dense_add_shape)
                 .gradient(dense_add_gradient));
  library.kernel(cpu_kernel("SparseTensorDenseAdd", check_dense_add, compute_dense_add));
}

}  // namespace troupe
