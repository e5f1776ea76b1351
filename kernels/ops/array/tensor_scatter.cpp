// A tensor with rows changed at positions (kernels/loops/rows.h: rows_at). The tensor itself stays as it is.
//   TensorScatterUpdate(tensor, indices, updates)       replaced; of updates of one row the last counts
//   TensorScatterAdd, TensorScatterSub                  added, subtracted, in order; any number
//   TensorScatterMax, TensorScatterMin                  the greater, the less of both; real; NaN if either is NaN
//   ScatterNdNonAliasingAdd(input, indices, updates)    as TensorScatterAdd; of bools any counts
// A position outside of the tensor is InvalidArgument with its number and value.
//   InplaceUpdate, InplaceAdd, InplaceSub(x, i, v)      row i[n] of x replaced by row n of v, added to it, subtracted from it;
//                                                       the number of a row counts modulo the rows, from the end if negative. The
//                                                       output lies in the memory of x if nobody else holds x; x never changes
//                                                       for others
#include "kernels/ops/array/tensor_scatter.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

Status scatter_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto updates, shape_of_rows_at(context.input(1), context.input(0)));
  TROUPE_RETURN_IF_FAILED(merge(context.input(2), updates).status());
  return unchanged_shape(context);
}

Status inplace_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape numbers, context.with_rank(1, 1));
  PartialShape rows = context.input(0);
  if (rows.has_rank(0)) return invalid_argument("x is a scalar, but must have rows");
  if (rows.known_rank()) {
    std::vector<int64_t> dims(rows.dims().begin(), rows.dims().end());
    dims[0] = numbers[0];
    rows = PartialShape(std::move(dims));
  }
  TROUPE_RETURN_IF_FAILED(merge(context.input(2), rows).status());
  return unchanged_shape(context);
}

/// Returns the rows whose numbers are in `indices`, modulo the number of rows; no row if they have no elements.
Result<RowNumbers> rows_modulo(const Tensor& indices, std::span<const int64_t> dims) {
  const size_t row = count_of(dims.subspan(1));
  if (dims[0] == 0 || row == 0) return RowNumbers{{}, row};
  const auto numbers = indices.as<int32_t>();
  RowNumbers rows{Dims(numbers.size()), row};
  std::ranges::transform(numbers, rows.numbers.begin(),
                         [&](int64_t number) { return row_modulo(number, dims[0]); });
  return rows;
}

/// Finds the rows that change: rows_at or rows_modulo.
using RowRule = Result<RowNumbers> (*)(const Tensor& indices, std::span<const int64_t> dims);

/// The rows that change, once the output holds the tensor.
template <RowRule rule>
Result<RowNumbers> rows_of_copy(const TensorScatterArguments& arguments, Pool& pool) {
  Tensor& output = arguments.output;
  TROUPE_ASSIGN(RowNumbers rows, rule(arguments.indices, output.shape().dims()));
  const Dims all{output.elements()}, one{1};
  if (arguments.tensor) strided_copy(pool, all, *arguments.tensor, {0, one}, output, {0, one});
  return rows;
}

template <RowRule rule>
Status compute_update(const TensorScatterArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const RowNumbers rows, rows_of_copy<rule>(arguments, device.pool()));
  const size_t cost = 2 * rows.row * size_of(arguments.updates.dtype());
  change_rows(device.pool(), rows.numbers, cost, [&](size_t i) {
    copy_row(arguments.updates, i, arguments.output, static_cast<size_t>(rows.numbers[i]), rows.row);
  });
  return {};
}

template <class Function, class List, RowRule rule = rows_at>
Status compute_combined(const TensorScatterArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const RowNumbers rows, rows_of_copy<rule>(arguments, device.pool()));
  if (arguments.updates.elements() == 0) return {};
  with_type(List{}, arguments.updates.dtype(), [&]<class T>(std::type_identity<T>) {
    using Combined = std::conditional_t<std::is_same_v<T, bool>, Maximum, Function>;
    combine_rows<Combined, T>(device.pool(), rows, arguments.updates, arguments.output);
  });
  return {};
}

// ---- Gradients

Output rows_at_indices(const GradientContext& context, Output x) {
  return context.scope().add_one("GatherNd", {x, context.input(1)});
}

void update_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), zeros = zeros_like(scope, context.input(2));
  context.set(0, scope.add_one("TensorScatterUpdate", {gradient, context.input(1), zeros}));
  context.set(2, rows_at_indices(context, gradient));
}

void add_gradient(GradientContext& context) {
  context.set(0, context.gradient());
  context.set(2, rows_at_indices(context, context.gradient()));
}

void sub_gradient(GradientContext& context) {
  context.set(0, context.gradient());
  context.set(2, neg(context.scope(), rows_at_indices(context, context.gradient())));
}

/// What equals the extreme value, of the tensor and of the updates, shares its gradient alike.
void extreme_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), tensor = context.input(0), updates = context.input(2),
               extreme = context.output(0);
  const DType dtype = scope.dtype(gradient);
  const Output of_tensor = cast(scope, equal(scope, tensor, extreme), dtype);
  const Output of_updates = cast(scope, equal(scope, updates, rows_at_indices(context, extreme)), dtype);
  const Output ties = scope.add_one("TensorScatterAdd", {of_tensor, context.input(1), of_updates});
  const Output shared = div(scope, gradient, ties);
  context.set(0, mul(scope, shared, of_tensor));
  context.set(2, mul(scope, rows_at_indices(context, shared), of_updates));
}

OpDefBuilder scatter_op(const char* name, const char* tensor, GradientFunction gradient) {
  return OpDefBuilder(name)
      .input(std::string(tensor) + ": T")
      .input("indices: Tindices")
      .input("updates: T")
      .output("output: T")
      .attr("Tindices: {int32, int64}")
      .shape(scatter_shape)
      .gradient(gradient);
}

template <class Function, class List>
void add_combined(OpLibrary& library, const char* name, OpDefBuilder op) {
  library.op(op.attr("T: type"));
  library.kernel(
      cpu_kernel(name, check_tensor_scatter, compute_combined<Function, List>).on("T", dtypes(List{})));
}

template <class Function, class List>
void add_combined(OpLibrary& library, const char* name, const char* constructor, GradientFunction gradient) {
  OpDefBuilder op = scatter_op(name, "tensor", gradient);
  op.constructor(std::string(constructor) + "(tensor, indices, updates)");
  add_combined<Function, List>(library, name, op);
}

OpDefBuilder inplace_op(const std::string& name) {
  return OpDefBuilder(name)
      .input("x: T")
      .input("i: int32")
      .input("v: T")
      .output("y: T")
      .attr("T: type")
      .shape(inplace_shape);
}

template <class Function>
void add_inplace(OpLibrary& library, const char* name) {
  library.op(inplace_op(name));
  library.kernel(cpu_kernel(name, check_inplace, compute_combined<Function, NumberTypes, rows_modulo>)
                     .on("T", dtypes(NumberTypes{})));
}

}  // namespace

Result<TensorScatterArguments> check_tensor_scatter(KernelContext& context) {
  const Shape shape = context.input(0).shape();  // a copy: the input may become the output
  TROUPE_RETURN_IF_FAILED(check_updates(context.input(1), context.input(2), shape.dims()));
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, shape));
  const Tensor& tensor = context.input(0);
  return TensorScatterArguments{tensor.valid() ? &tensor : nullptr, context.input(1), context.input(2),
                                *output};
}

Result<TensorScatterArguments> check_inplace(KernelContext& context) {
  const Shape shape = context.input(0).shape();  // a copy: the input may become the output
  const Shape &numbers = context.input(1).shape(), &rows = context.input(2).shape();
  if (numbers.rank() != 1)
    return invalid_argument("i has shape " + numbers.text() + ", but must be a vector");
  if (shape.is_scalar()) return invalid_argument("x is a scalar, but must have rows");
  const bool fits = rows.rank() == shape.rank() && rows[0] == numbers[0] &&
                    std::ranges::equal(rows.dims().subspan(1), shape.dims().subspan(1));
  if (!fits)
    return invalid_argument("x and v shape doesn't match: x has shape " + shape.text() + ", v has shape " +
                            rows.text() + " and i has shape " + numbers.text());
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, shape));
  const Tensor& tensor = context.input(0);
  return TensorScatterArguments{tensor.valid() ? &tensor : nullptr, context.input(1), context.input(2),
                                *output};
}

void add_tensor_scatter_ops(OpLibrary& library) {
  library.op(scatter_op("TensorScatterUpdate", "tensor", update_gradient)
                 .attr("T: type")
                 .constructor("tensor_scatter_update(tensor, indices, updates)"));
  library.kernel(cpu_kernel("TensorScatterUpdate", check_tensor_scatter, compute_update<rows_at>));
  add_combined<Add, NumberTypes>(library, "TensorScatterAdd", "tensor_scatter_add", add_gradient);
  add_combined<Sub, NumberTypes>(library, "TensorScatterSub", "tensor_scatter_sub", sub_gradient);
  add_combined<Maximum, RealTypes>(library, "TensorScatterMax", "tensor_scatter_max", extreme_gradient);
  add_combined<Minimum, RealTypes>(library, "TensorScatterMin", "tensor_scatter_min", extreme_gradient);
  const char* const name = "ScatterNdNonAliasingAdd";
  add_combined<Add, PlainTypes>(library, name, scatter_op(name, "input", add_gradient));
  library.op(inplace_op("InplaceUpdate"));
  library.kernel(cpu_kernel("InplaceUpdate", check_inplace, compute_update<rows_modulo>));
  add_inplace<Add>(library, "InplaceAdd");
  add_inplace<Sub>(library, "InplaceSub");
}

}  // namespace troupe
