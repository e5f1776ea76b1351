// SparseToDense(sparse_indices, output_shape, sparse_values, default_value): a tensor of default_value, but for sparse_values[i]
// at sparse_indices[i]; one value may stand for all. The indices are a matrix of positions, or for a vector as the result a
// vector, or a scalar. With validate_indices they must be in order and no two the same; else of two values at a position the last
// counts. InvalidArgument for a position outside of output_shape.
#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

/// sparse_indices as a matrix: how many positions, of how many numbers each.
struct Positions {
  int64_t count = 1, depth = 1;
};
Result<Positions> positions_of(std::span<const int64_t> dims) {
  if (dims.size() > 2)
    return invalid_argument("sparse_indices of shape " + partial(dims).text() +
                            " is no scalar, vector or matrix");
  Positions positions;
  if (!dims.empty()) positions.count = dims[0];
  if (dims.size() == 2) positions.depth = dims[1];
  return positions;
}

Status sparse_to_dense_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 1));
  TROUPE_RETURN_IF_FAILED(context.with_rank(3, 0).status());
  const PartialShape &indices = context.input(0), &values = context.input(2);
  if (values.known_rank() && values.rank() > 1)
    return invalid_argument("sparse_values of shape " + values.text() + " is neither scalar nor vector");
  if (indices.known_rank()) {
    TROUPE_ASSIGN(const Positions positions, positions_of(indices.dims()));
    if (shape.known_rank())
      TROUPE_RETURN_IF_FAILED(merge(PartialShape::vector(positions.depth),
                                    PartialShape::vector(static_cast<int64_t>(shape.rank())))
                                  .status());
    if (values.has_rank(1))
      TROUPE_RETURN_IF_FAILED(merge(values, PartialShape::vector(positions.count)).status());
  }
  context.set_output(0, std::move(shape));
  return {};
}

struct SparseToDenseArguments {
  Tensor positions;      ///< int32 or int64 [count, rank of the output]; not checked yet
  const Tensor& values;  ///< `count` elements, or a scalar
  const Tensor& default_value;
  Tensor& dense;
  bool validates;  ///< whether positions must be in order, each greater than the one before
};

Result<SparseToDenseArguments> check_sparse_to_dense(KernelContext& context) {
  const Tensor &indices = context.input(0), &values = context.input(2), &default_value = context.input(3);
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(1), "output_shape"));
  TROUPE_ASSIGN(const Positions positions, positions_of(indices.shape().dims()));
  if (positions.depth != static_cast<int64_t>(dims.size()))
    return invalid_argument("sparse_indices of shape " + indices.shape().text() + " for output_shape " +
                            text_of(dims));
  const Shape& shape_of_values = values.shape();
  if (shape_of_values.rank() > 1 || (shape_of_values.rank() == 1 && values.elements() != positions.count))
    return invalid_argument("sparse_values of shape " + shape_of_values.text() + " for " +
                            std::to_string(positions.count) + " positions");
  if (!default_value.shape().is_scalar())
    return invalid_argument("default_value of shape " + default_value.shape().text() + " is not a scalar");
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, values.dtype()));
  TROUPE_ASSIGN(const Shape matrix, Shape::make(Dims{positions.count, positions.depth}, indices.dtype()));
  TROUPE_ASSIGN(Tensor* const dense, context.output(0, shape));
  return SparseToDenseArguments{indices.reshaped(matrix), values, default_value, *dense,
                                context.node().attrs.get<bool>("validate_indices")};
}

/// InvalidArgument for a position that is not greater than the one before.
Status check_order(std::span<const int64_t> numbers) {
  for (size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] <= numbers[i - 1])
      return invalid_argument("sparse_indices[" + std::to_string(i) + "] " +
                              (numbers[i] == numbers[i - 1] ? "is the same position as the one before"
                                                            : "is a lower position than the one before"));
  return {};
}

Status compute_sparse_to_dense(const SparseToDenseArguments& arguments, DeviceContext& device) {
  Tensor& dense = arguments.dense;
  TROUPE_ASSIGN(const RowNumbers places, rows_at(arguments.positions, dense.shape().dims()));
  if (arguments.validates) TROUPE_RETURN_IF_FAILED(check_order(places.numbers));
  fill(device.pool(), dense, &arguments.default_value);
  const size_t step = arguments.values.shape().is_scalar() ? 0 : 1;
  with_storage(dense.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const from = reinterpret_cast<const T*>(arguments.values.data());
    T* const to = reinterpret_cast<T*>(dense.mutable_data());
    const auto place = [&](size_t i) { to[places.numbers[i]] = from[i * step]; };
    if (!arguments.validates) return change_rows(device.pool(), places.numbers, 2 * sizeof(T), place);
    parallel_items(device.pool(), places.numbers.size(), 16 * sizeof(T), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) place(i);
    });
  });
  return {};
}

/// The values get what stands at their positions, the default the rest.
void sparse_to_dense_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), indices = context.input(0), values = context.input(2);
  const DType dtype = scope.dtype(indices);
  // As many rows as a matrix or vector has, or 1 for a scalar; each with a number for every dimension of the result.
  const Output dims =
      scope.add_one("ConcatV2", {shape_of(scope, indices, dtype), integer_constants(scope, Dims{1}, dtype),
                                 integer_constant(scope, 0)});
  const Output count =
      scope.add_one("Slice", {dims, integer_constants(scope, Dims{0}), integer_constants(scope, Dims{1})});
  const Output depth = scope.add_one("Shape", {context.input(1)}, {{"out_type", dtype}});
  const Output matrix = scope.add_one(
      "Reshape", {indices, scope.add_one("ConcatV2", {count, depth, integer_constant(scope, 0)})});
  const Output taken = scope.add_one("GatherNd", {gradient, matrix});
  context.set(2, summed_to_shape_of(scope, taken, values));
  const Output rest =
      scope.add_one("TensorScatterUpdate", {gradient, matrix, scope.add_one("ZerosLike", {taken})});
  const Output flat = scope.add_one("Reshape", {rest, integer_constants(scope, Dims{-1})});
  context.set(3, scope.add_one("Sum", {flat, integer_constant(scope, 0)}));
}

}  // namespace

void add_sparse_to_dense(OpLibrary& library) {
  library.op(
      OpDefBuilder("SparseToDense")
          .input("sparse_indices: Tindices")
          .host_input("output_shape: Tindices")
          .input("sparse_values: T")
          .input("default_value: T")
          .output("dense: T")
          .attr("validate_indices: bool = true")
          .attr("T: type")
          .attr("Tindices: {int32, int64}")
          .constructor(
              "sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value, validate_indices)")
          .shape(sparse_to_dense_shape)
          .gradient(sparse_to_dense_gradient));
  library.kernel(cpu_kernel("SparseToDense", check_sparse_to_dense, compute_sparse_to_dense));
}

}  // namespace troupe
