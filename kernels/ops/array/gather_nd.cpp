// Elements or slices at positions of a tensor (kernels/loops/rows.h: rows_at).
//   GatherNd(params, indices)            the slices of params at positions indices[i...]
//   ResourceGatherNd(resource, indices)  the same of the value of a variable
//   ScatterNd(indices, updates, shape)   zeros of this shape, to which updates[i...] is added at position indices[i...], in order;
//                                        strings are concatenated, bools are combined by "or"
// A position outside the tensor fails with InvalidArgument, naming its number and value.
#include "kernels/ops/array/gather_nd.h"

#include "kernels/core/arguments.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

Status gather_nd_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, shape_of_rows_at(context.input(1), context.input(0)));
  context.set_output(0, std::move(shape));
  return {};
}

Status compute_gather_nd(const GatherNdArguments& arguments, DeviceContext& device) {
  const auto& [params, indices, output] = arguments;
  TROUPE_ASSIGN(const RowNumbers rows, rows_at(indices, params.shape().dims()));
  if (output.elements() != 0) take_rows(device.pool(), params, rows.numbers, output, rows.row);
  return {};
}

/// If the indices are a list of row numbers, the gradient is sparse.
void gather_nd_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output params = context.input(0), indices = context.input(1);
  const PartialShape& positions = scope.shape(indices);
  if (positions.has_rank(2) && positions[1] == 1) {
    const Output numbers = scope.add_one("Squeeze", {indices}, {{"squeeze_dims", std::vector<int64_t>{1}}});
    return context.set(0, IndexedSlices{context.gradient(), numbers, shape_of(scope, params)});
  }
  const Output shape = shape_of(scope, params, scope.dtype(indices));
  context.set(0, scope.add_one("ScatterNd", {indices, context.gradient(), shape}));
}

Status scatter_nd_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 2));
  TROUPE_ASSIGN(const auto updates, shape_of_rows_at(context.input(0), shape));
  TROUPE_RETURN_IF_FAILED(merge(context.input(1), updates).status());
  context.set_output(0, std::move(shape));
  return {};
}

using SummedTypes = Joined<PlainTypes, TypeList<std::string>>;

Status compute_scatter_nd(const ScatterNdArguments& arguments, DeviceContext& device) {
  const Tensor& updates = arguments.updates;
  Tensor& output = arguments.output;
  TROUPE_ASSIGN(const RowNumbers rows, rows_at(arguments.indices, output.shape().dims()));
  fill(device.pool(), output);
  if (updates.elements() == 0) return {};
  with_type(SummedTypes{}, updates.dtype(), [&]<class T>(std::type_identity<T>) {
    using Sum = std::conditional_t<std::is_same_v<T, bool>, Maximum, Add>;
    combine_rows<Sum, T>(device.pool(), rows, updates, output);
  });
  return {};
}

void scatter_nd_gradient(GradientContext& context) {
  context.set(1, context.scope().add_one("GatherNd", {context.gradient(), context.input(0)}));
}

}  // namespace

Result<GatherNdArguments> check_gather_nd(KernelContext& context) {
  const Tensor &params = context.input(0), &indices = context.input(1);
  TROUPE_ASSIGN(const PartialShape dims, shape_of_rows_at(indices.shape(), params.shape()));
  TROUPE_ASSIGN(const Shape shape, dims.to_shape(params.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return GatherNdArguments{params, indices, *output};
}

Result<ScatterNdArguments> check_scatter_nd(KernelContext& context) {
  const Tensor &indices = context.input(0), &updates = context.input(1);
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(2), "shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, updates.dtype()));
  TROUPE_RETURN_IF_FAILED(check_updates(indices, updates, dims));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ScatterNdArguments{indices, updates, *output};
}

void add_gather_nd_ops(OpLibrary& library) {
  library.op(OpDefBuilder("GatherNd")
                 .input("params: Tparams")
                 .input("indices: Tindices")
                 .output("output: Tparams")
                 .attr("Tparams: type")
                 .attr("Tindices: {int32, int64}")
                 .constructor("gather_nd(params, indices)")
                 .shape(gather_nd_shape)
                 .gradient(gather_nd_gradient));
  library.kernel(cpu_kernel("GatherNd", check_gather_nd, compute_gather_nd));
  library.op(OpDefBuilder("ResourceGatherNd")
                 .input("resource: resource")
                 .input("indices: Tindices")
                 .output("output: dtype")
                 .attr("dtype: type")
                 .attr("Tindices: {int32, int64}")
                 .effect(Effect::State)
                 .shape(gather_nd_shape)
                 .gradient(gather_nd_gradient));
  library.kernel(cpu_kernel("ResourceGatherNd", check_gather_nd, compute_gather_nd));
  library.op(OpDefBuilder("ScatterNd")
                 .input("indices: Tindices")
                 .input("updates: T")
                 .host_input("shape: Tindices")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Tindices: {int32, int64}")
                 .constructor("scatter_nd(indices, updates, shape)")
                 .shape(scatter_nd_shape)
                 .gradient(scatter_nd_gradient));
  library.kernel(
      cpu_kernel("ScatterNd", check_scatter_nd, compute_scatter_nd).on("T", dtypes(SummedTypes{})));
}

}  // namespace troupe
