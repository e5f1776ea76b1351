// Permutes dimensions.
//   Transpose(x, perm)      dimension i of the result is dimension perm[i] of x
//   ConjugateTranspose(x, perm)    the same of the complex conjugate of x; real elements stay as they are
//   InvertPermutation(x)    y with y[x[i]] = i
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

/// Returns the inverse of a permutation. Fails with InvalidArgument unless each of the numbers 0 .. n-1 occurs once.
Result<Dims> inverse_of(std::span<const int64_t> permutation) {
  const auto size = static_cast<int64_t>(permutation.size());
  Dims inverse(permutation.size(), -1);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t to = permutation[static_cast<size_t>(i)];
    if (to < 0 || to >= size || inverse[static_cast<size_t>(to)] != -1)
      return invalid_argument(text_of(permutation) + " is not a permutation: element " + std::to_string(i) +
                              " is " + std::to_string(to) + "; each of the numbers from 0 to " +
                              std::to_string(size - 1) + " must occur once");
    inverse[static_cast<size_t>(to)] = i;
  }
  return inverse;
}

Status check_permutation(std::span<const int64_t> permutation, size_t rank) {
  if (permutation.size() != rank)
    return invalid_argument("perm " + text_of(permutation) + " must have one element for each of the " +
                            std::to_string(rank) + " dimensions of x");
  return inverse_of(permutation).status();
}

Status transpose_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto length, context.with_rank(1, 1));
  PartialShape x = context.input(0);
  const auto permutation = context.constant_integers(1);
  if (permutation && !x.known_rank()) x = PartialShape::of_rank(permutation->size());
  if (!x.known_rank()) return {};
  if (length[0] != unknown_dim && length[0] != static_cast<int64_t>(x.rank()))
    return invalid_argument("perm has shape " + length.text() + " and x has shape " + x.text() +
                            "; perm must have one element for each dimension of x");
  std::vector<int64_t> dims(x.rank(), unknown_dim);
  if (permutation) {
    TROUPE_RETURN_IF_FAILED(check_permutation(*permutation, x.rank()));
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = x[static_cast<size_t>((*permutation)[i])];
  }
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

void transpose_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output inverse = scope.add_one("InvertPermutation", {context.input(1)});
  context.set(0, scope.add_one(context.node().type(), {context.gradient(), inverse}));
}

void compute_conjugate_transpose(const BoxCopyArguments& arguments, DeviceContext& device) {
  compute_box_copy(arguments, device);
  with_type(ComplexTypes{}, arguments.to->dtype(), [&]<class T>(std::type_identity<T>) {
    const auto y = arguments.to->write<T>();
    parallel_items(device.pool(), y.size(), 2 * sizeof(T), [&](size_t begin, size_t end) {
      for (T& element : y.subspan(begin, end - begin)) element = std::conj(element);
    });
  });
}

OpDefBuilder transpose_op(const char* name) {
  return OpDefBuilder(name)
      .input("x: T")
      .host_input("perm: Tperm")
      .output("y: T")
      .attr("T: type")
      .attr("Tperm: {int32, int64} = int32")
      .shape(transpose_shape)
      .gradient(transpose_gradient);
}

Status invert_permutation_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, context.with_rank(0, 1));
  context.set_output(0, std::move(shape));
  return {};
}

Status run_invert_permutation(KernelContext& context) {
  TROUPE_ASSIGN(const Dims permutation, integer_vector(context.input(0), "x"));
  TROUPE_ASSIGN(const Dims inverse, inverse_of(permutation));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  for (size_t i = 0; i < inverse.size(); ++i) {
    if (output->dtype() == DType::Int64)
      output->write<int64_t>()[i] = inverse[i];
    else
      output->write<int32_t>()[i] = static_cast<int32_t>(inverse[i]);
  }
  return {};
}

}  // namespace

Result<BoxCopyArguments> check_transpose(KernelContext& context) {
  const Tensor& x = context.input(0);
  TROUPE_ASSIGN(const Dims permutation, integer_vector(context.input(1), "perm"));
  TROUPE_RETURN_IF_FAILED(check_permutation(permutation, x.shape().rank()));
  Dims dims;
  Layout from;
  const Dims strides = strides_of(x.shape().dims());
  for (const int64_t i : permutation) {
    dims.push_back(x.shape()[static_cast<size_t>(i)]);
    from.strides.push_back(strides[static_cast<size_t>(i)]);
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, x.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return BoxCopyArguments{&x, output, BoxCopy(dims, from, {0, strides_of(dims)})};
}

void add_transpose_ops(OpLibrary& library) {
  library.op(transpose_op("Transpose").constructor("transpose(a: x, perm)"));
  library.kernel(cpu_kernel("Transpose", check_transpose, compute_box_copy));
  library.op(transpose_op("ConjugateTranspose").constructor("conjugate_transpose(a: x, perm)"));
  library.kernel(cpu_kernel("ConjugateTranspose", check_transpose, compute_conjugate_transpose));
  library.op(OpDefBuilder("InvertPermutation")
                 .host_input("x: T")
                 .host_output("y: T")
                 .attr("T: {int32, int64} = int32")
                 .constructor("invert_permutation(x)")
                 .shape(invert_permutation_shape)
                 .not_differentiable());
  library.kernel(host_kernel("InvertPermutation", run_invert_permutation).inexpensive());
}

}  // namespace troupe
