// SparseTensorDenseMatMul(a_indices, a_values, a_shape, b): the product of a sparse matrix and a dense one. With adjoint_a
// (adjoint_b), a (b) is transposed and, if complex, conjugated first. The positions of a may be in any order, and values at one
// position count as their sum. Terms are added in the order of the values; half and bfloat16 are summed in float. Fails with
// InvalidArgument if the inner dimensions differ or a position is outside a_shape.
#include "kernels/ops/sparse/sparse_matmul.h"

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

using ProductTypes = Joined<AllFloatTypes, Joined<TypeList<int32_t, int64_t>, ComplexTypes>>;

Status sparse_matmul_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  TROUPE_ASSIGN(const auto b, context.with_rank(3, 2));
  if (indices.known_rank() && indices[1] != 2 && indices[1] != unknown_dim)
    return invalid_argument("a_indices of shape " + indices.text() + " are not those of a matrix");
  const auto a_shape = context.constant_integers(2);
  const size_t rows = context.attr<bool>("adjoint_a") ? 1 : 0;
  const int64_t columns = b[context.attr<bool>("adjoint_b") ? 0 : 1];
  context.set_output(
      0, PartialShape{a_shape ? std::max<int64_t>((*a_shape)[rows], unknown_dim) : unknown_dim, columns});
  return {};
}

template <class T>
T conjugated(const T& value, bool conjugates) {
  if constexpr (is_complex_type<T>)
    return conjugates ? std::conj(value) : value;
  else
    return value;
}

/// Returns b, or its adjoint in new memory.
Result<Tensor> rows_of_b(const SparseMatMulArguments& arguments, DeviceContext& device) {
  const Tensor& b = arguments.b;
  if (!arguments.adjoint_b) return b;
  const int64_t rows = b.shape()[1], columns = b.shape()[0];
  TROUPE_ASSIGN(const Shape shape, Shape::make(Dims{rows, columns}, b.dtype()));
  TROUPE_ASSIGN(Tensor adjoint, Tensor::allocate(b.dtype(), shape, device.memory()));
  strided_copy(device.pool(), shape.dims(), b, {0, Dims{1, rows}}, adjoint, {0, Dims{columns, 1}});
  with_type(ComplexTypes{}, b.dtype(), [&]<class T>(std::type_identity<T>) {
    for (T& value : adjoint.write<T>()) value = std::conj(value);
  });
  return adjoint;
}

/// Adds each value times its row of b to its row of the product, which is 0.
template <class T>
void add_products(const SparseMatMulArguments& arguments, const Tensor& b, std::span<const int64_t> rows,
                  std::span<const int64_t> inner, Pool& pool, std::span<ComputeType<T>> product) {
  const auto columns = static_cast<size_t>(b.shape()[1]);
  const auto values = arguments.a.values.as<T>();
  const auto from = b.as<T>();
  change_rows(pool, rows, 3 * columns * sizeof(T), [&](size_t i) {
    const auto value = static_cast<ComputeType<T>>(conjugated(values[i], arguments.adjoint_a));
    add_scaled<T>(product.subspan(static_cast<size_t>(rows[i]) * columns, columns), value,
                  from.subspan(static_cast<size_t>(inner[i]) * columns, columns));
  });
}

Status compute_sparse_matmul(const SparseMatMulArguments& arguments, DeviceContext& device) {
  const Dims first{1, 0}, second{0, 1};
  const bool adjoint = arguments.adjoint_a;
  TROUPE_ASSIGN(const Tensor rows, offsets_of(device, arguments.a, adjoint ? second : first));
  TROUPE_ASSIGN(const Tensor inner, offsets_of(device, arguments.a, adjoint ? first : second));
  TROUPE_ASSIGN(const Tensor b, rows_of_b(arguments, device));
  Tensor& product = arguments.product;
  const bool narrow = is_narrow(product.dtype());
  Tensor sums;
  if (narrow) {
    TROUPE_ASSIGN(sums, Tensor::allocate(DType::Float, product.shape(), device.memory()));
  }
  Tensor& to = narrow ? sums : product;
  fill(device.pool(), to);
  with_type(ProductTypes{}, product.dtype(), [&]<class T>(std::type_identity<T>) {
    add_products<T>(arguments, b, rows.as<int64_t>(), inner.as<int64_t>(), device.pool(),
                    to.write<ComputeType<T>>());
  });
  if (narrow) convert(device.pool(), sums, product);
  return {};
}

/// Returns column `column` of the indices as a vector.
Output index_column(const Scope& scope, Output indices, int64_t column) {
  const Output slice = scope.add_one(
      "Slice", {indices, integer_constants(scope, Dims{0, column}), integer_constants(scope, Dims{-1, 1})});
  return reshape(scope, slice, integer_constants(scope, Dims{-1}));
}

/// With A and B as they enter the product and g its gradient: the gradient of A at the positions that have values is g B', that
/// of B is A' g, where ' is the adjoint.
void sparse_matmul_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool adjoint_a = context.attr<bool>("adjoint_a"), adjoint_b = context.attr<bool>("adjoint_b");
  const Output indices = context.input(0), b = context.input(3), g = context.gradient();
  const auto adjoint = [&](Output x) {
    return conjugate(scope, transpose(scope, x, integer_constants(scope, Dims{1, 0})));
  };
  const Output to_b =
      scope.add_one("SparseTensorDenseMatMul", {indices, context.input(1), context.input(2), g},
                    {{"adjoint_a", !adjoint_a}});
  context.set(3, adjoint_b ? adjoint(to_b) : to_b);
  const Output of_g = scope.add_one("Gather", {g, index_column(scope, indices, adjoint_a ? 1 : 0)});
  const Output of_b =
      scope.add_one("Gather", {adjoint_b ? adjoint(b) : b, index_column(scope, indices, adjoint_a ? 0 : 1)});
  const Output products =
      adjoint_a ? mul(scope, of_b, conjugate(scope, of_g)) : mul(scope, of_g, conjugate(scope, of_b));
  context.set(1, scope.add_one("Sum", {products, integer_constant(scope, 1)}));
}

}  // namespace

Result<SparseMatMulArguments> check_sparse_matmul(KernelContext& context) {
  const Attributes& attrs = context.node().attrs;
  const bool adjoint_a = attrs.get<bool>("adjoint_a"), adjoint_b = attrs.get<bool>("adjoint_b");
  TROUPE_ASSIGN(SparseTensor a, read_sparse(context, SparseInputs::from(0)));
  const Tensor& b = context.input(3);
  if (a.rank() != 2)
    return invalid_argument("a_indices of shape " + a.indices.shape().text() + " are not those of a matrix");
  TROUPE_RETURN_IF_FAILED(check_rank(context, 3, 2));
  const int64_t inner = a.dims[adjoint_a ? 0 : 1], inner_b = b.shape()[adjoint_b ? 1 : 0];
  if (inner != inner_b)
    return invalid_argument("a " + text_of(a.dims) + (adjoint_a ? " transposed" : "") + " x b " +
                            b.shape().text() + (adjoint_b ? " transposed" : "") +
                            ": inner dimensions differ");
  const Dims dims{a.dims[adjoint_a ? 1 : 0], b.shape()[adjoint_b ? 0 : 1]};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, b.dtype()));
  TROUPE_ASSIGN(Tensor* const product, context.output(0, shape));
  return SparseMatMulArguments{std::move(a), b, *product, adjoint_a, adjoint_b};
}

void add_sparse_tensor_dense_matmul(OpLibrary& library) {
  library.op(
      OpDefBuilder("SparseTensorDenseMatMul")
          .input("a_indices: Tindices")
          .input("a_values: T")
          .host_input("a_shape: int64")
          .input("b: T")
          .output("product: T")
          .attr("T: type")
          .attr("Tindices: {int32, int64} = int64")
          .attr("adjoint_a: bool = false")
          .attr("adjoint_b: bool = false")
          .constructor("sparse_tensor_dense_matmul(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b)")
          .shape(sparse_matmul_shape)
          .gradient(sparse_matmul_gradient));
  library.kernel(cpu_kernel("SparseTensorDenseMatMul", check_sparse_matmul, compute_sparse_matmul)
                     .on("T", dtypes(ProductTypes{})));
}

}  // namespace troupe
