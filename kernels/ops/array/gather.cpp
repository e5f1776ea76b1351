// Slices by index (features.md P1).
//   Gather(params, indices)             rows params[indices[i...]]; a scalar index gives a row without the first dimension
//   GatherV2(params, indices, axis)     the same along any axis, in [-rank, rank)
//   ResourceGather(resource, indices)   the same for the value of a variable, along axis batch_dims
// The first `batch_dims` dimensions are the same in params and indices; the indices of entry b of the batch apply to entry b of
// params. batch_dims is in [-rank of indices, rank of indices] and does not exceed axis. The result has the shape
// params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].
// An index out of range fails with InvalidArgument, naming position and value. The gradient along axis 0 is sparse: IndexedSlices.
#include "kernels/ops/array/gather.h"

#include <algorithm>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"

namespace troupe {
namespace {

/// The axis of params, and the number of leading dimensions that params shares with indices; neither is negative.
struct GatherAxes {
  size_t axis = 0, batch = 0;
};

int64_t batch_dims_of(const Node& node) {
  const AttrValue* const batch_dims = node.attrs.find("batch_dims");
  return batch_dims ? std::get<int64_t>(*batch_dims) : 0;
}

bool has_axis(const Node& node) { return node.type() == "GatherV2"; }

Result<size_t> resolve_batch(int64_t batch_dims, size_t indices_rank) {
  const auto rank = static_cast<int64_t>(indices_rank);
  if (batch_dims < -rank || batch_dims > rank)
    return invalid_argument("batch_dims " + std::to_string(batch_dims) + " is outside [-" +
                            std::to_string(rank) + ", " + std::to_string(rank) +
                            "], the range for indices of rank " + std::to_string(rank));
  return static_cast<size_t>(batch_dims < 0 ? batch_dims + rank : batch_dims);
}

/// `axis` is nothing for ops without an axis input; batch_dims is then their axis.
Result<GatherAxes> resolve(size_t params_rank, size_t indices_rank, std::optional<int64_t> axis,
                           int64_t batch_dims) {
  if (params_rank == 0) return invalid_argument("params is a scalar; it must have at least one dimension");
  GatherAxes axes;
  TROUPE_ASSIGN(axes.batch, resolve_batch(batch_dims, indices_rank));
  TROUPE_ASSIGN(axes.axis, resolve_axis(axis.value_or(static_cast<int64_t>(axes.batch)), params_rank));
  if (axes.batch > axes.axis)
    return invalid_argument("batch_dims " + std::to_string(axes.batch) + " is more than axis " +
                            std::to_string(axes.axis));
  return axes;
}

/// Returns the dimensions of the result. A dimension of -1 is unknown and matches any.
Result<Dims> gathered_dims(std::span<const int64_t> params, std::span<const int64_t> indices,
                           const GatherAxes& axes) {
  Dims dims(params.first(axes.axis));
  for (size_t i = 0; i < axes.batch; ++i) {
    if (dims[i] == unknown_dim) dims[i] = indices[i];
    if (indices[i] != unknown_dim && indices[i] != dims[i])
      return invalid_argument("params of shape " + text_of(params) + " and indices of shape " +
                              text_of(indices) + " differ in batch dimension " + std::to_string(i));
  }
  dims.append(indices.subspan(axes.batch));
  dims.append(params.subspan(axes.axis + 1));
  return dims;
}

/// If the axis is not known, only the rank of the result is.
Status shape_without_axis(ShapeContext& context) {
  const PartialShape &params = context.input(0), &indices = context.input(1);
  if (params.rank() == 0) return invalid_argument("params is a scalar; it must have at least one dimension");
  TROUPE_ASSIGN(const size_t batch, resolve_batch(batch_dims_of(context.node()), indices.rank()));
  context.set_output(0, PartialShape::of_rank(params.rank() - 1 + indices.rank() - batch));
  return {};
}

Status gather_shape(ShapeContext& context) {
  const Node& node = context.node();
  std::optional<int64_t> axis;
  if (has_axis(node)) {
    TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
    axis = constant_integer(context, 2);
  }
  const PartialShape &params = context.input(0), &indices = context.input(1);
  if (!params.known_rank() || !indices.known_rank())
    return params.has_rank(0) ? invalid_argument("params is a scalar; it must have at least one dimension")
                              : Status{};
  if (has_axis(node) && !axis) return shape_without_axis(context);
  TROUPE_ASSIGN(const GatherAxes axes, resolve(params.rank(), indices.rank(), axis, batch_dims_of(node)));
  TROUPE_ASSIGN(const Dims dims, gathered_dims(params.dims(), indices.dims(), axes));
  context.set_output(0, partial(dims));
  return {};
}

Status compute_gather(const GatherArguments& arguments, DeviceContext& device) {
  const auto& [params, indices, output, slices] = arguments;
  TROUPE_RETURN_IF_FAILED(check_indices(indices, static_cast<int64_t>(slices.rows)));
  if (output.elements() != 0) take_rows(device.pool(), params, integers(indices), output, slices);
  return {};
}

// ---- Gradients

/// Row i of the gradient belongs to row indices[i] of params, after both are flattened to lists of rows.
void sparse_gradient(GradientContext& context, Output shape) {
  const Scope& scope = context.scope();
  const Output count = scope.add_one(
      "Reshape", {scope.add_one("Size", {context.input(1)}), integer_constants(scope, Dims{1})});
  const Output row =
      scope.add_one("Slice", {shape, integer_constants(scope, Dims{1}), integer_constants(scope, Dims{-1})});
  const Output values_shape = scope.add_one("ConcatV2", {count, row, integer_constant(scope, 0)});
  const Output values = scope.add_one("Reshape", {context.gradient(), values_shape});
  const Output indices = scope.add_one("Reshape", {context.input(1), count});
  context.set(0, IndexedSlices{values, indices, shape});
}

/// Builds int64 scalars and vectors in a gradient.
class Integers {
 public:
  explicit Integers(const Scope& scope) : scope_(scope) {}

  Output constant(int64_t value) const { return integer_constant(scope_, value, DType::Int64); }
  Output of(Output x) const { return scope_.dtype(x) == DType::Int64 ? x : cast(scope_, x, DType::Int64); }
  Output vector(const std::vector<Output>& scalars) const { return scope_.add_one("Pack", scalars); }
  /// Returns `size` elements from `begin` on.
  Output part(Output shape, Output begin, Output size) const {
    return slice(scope_, shape, vector({begin}), vector({size}));
  }
  Output product(Output vector) const { return prod(scope_, vector, 0); }

 private:
  const Scope& scope_;
};

bool is_variable(const GradientContext& context) {
  return context.scope().dtype(context.input(0)) == DType::Resource;
}

Output params_shape(const GradientContext& context, DType dtype) {
  const Scope& scope = context.scope();
  if (!is_variable(context)) return shape_of(scope, context.input(0), dtype);
  return scope.add_one("VariableShape", {context.input(0)}, {{"out_type", dtype}});
}

/// The gradient with a batch: params is seen as blocks of `rows` rows, with `blocks_of_entry` blocks for each of the `entries`
/// of the batch. Every row of the gradient is added to the row from which it was taken; rows are numbered through all blocks.
/// Without an `axis` input the axis is batch_dims.
void dense_gradient(GradientContext& context, std::optional<Output> axis, int64_t batch_dims) {
  const Scope& scope = context.scope();
  const Integers n(scope);
  const Output indices = context.input(1), zero = n.constant(0), one = n.constant(1);
  const Output shape = params_shape(context, DType::Int64), counted = shape_of(scope, indices, DType::Int64);
  const auto rank_of = [&](Output dims) { return n.of(scope.add_one("Size", {dims})); };
  const Output batch =
      batch_dims < 0 ? add(scope, rank_of(counted), n.constant(batch_dims)) : n.constant(batch_dims);
  const Output at = axis ? scope.add_one("FloorMod", {n.of(*axis), rank_of(shape)}) : batch;
  const Output entries = n.product(n.part(shape, zero, batch));
  const Output blocks_of_entry = n.product(n.part(shape, batch, sub(scope, at, batch)));
  const Output blocks = mul(scope, entries, blocks_of_entry), rows = gather(scope, shape, at);
  const Output row = n.part(shape, add(scope, at, one), n.constant(-1));
  const Output taken = n.product(n.part(counted, batch, n.constant(-1)));
  const Output firsts = reshape(scope, mul(scope, range(scope, zero, blocks, one), rows),
                                n.vector({entries, blocks_of_entry, one}));
  const Output numbers = add(scope, reshape(scope, n.of(indices), n.vector({entries, one, taken})), firsts);
  const Output taken_rows = n.vector({mul(scope, blocks, taken)});
  const Output values = reshape(scope, context.gradient(), concat(scope, {taken_rows, row}, 0));
  const Output sums = scope.add_one("UnsortedSegmentSum",
                                    {values, reshape(scope, numbers, taken_rows), mul(scope, blocks, rows)});
  context.set(0, reshape(scope, sums, shape));
}

bool is_zero(const Tensor* constant) {
  if (!constant) return false;
  const auto value = integer_scalar(*constant, "axis");
  return value.ok() && *value == 0;
}

void gather_gradient(GradientContext& context) {
  const int64_t batch_dims = batch_dims_of(context.node());
  std::optional<Output> axis;
  if (has_axis(context.node())) axis = context.input(2);
  const bool along_rows = !axis || is_zero(context.scope().graph().constant(*axis));
  if (batch_dims != 0 || !along_rows) return dense_gradient(context, axis, batch_dims);
  sparse_gradient(context, params_shape(context, DType::Int32));
}

}  // namespace

Result<GatherArguments> check_gather(KernelContext& context) {
  const Tensor &params = context.input(0), &indices = context.input(1);
  std::optional<int64_t> given;
  if (has_axis(context.node())) {
    TROUPE_ASSIGN(given, integer_scalar(context.input(2), "axis"));
  }
  TROUPE_ASSIGN(const GatherAxes axes,
                resolve(params.shape().rank(), indices.shape().rank(), given, batch_dims_of(context.node())));
  TROUPE_ASSIGN(const Dims dims, gathered_dims(params.shape().dims(), indices.shape().dims(), axes));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, params.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const Slices slices{.blocks = count_of(params.shape().dims().first(axes.axis)),
                      .lists = count_of(indices.shape().dims().first(axes.batch)),
                      .rows = static_cast<size_t>(params.shape()[axes.axis]),
                      .row = count_of(params.shape().dims().subspan(axes.axis + 1))};
  return GatherArguments{params, indices, *output, slices};
}

void add_gather_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Gather")
                 .input("params: Tparams")
                 .input("indices: Tindices")
                 .output("output: Tparams")
                 .attr("validate_indices: bool = true")
                 .attr("Tparams: type")
                 .attr("Tindices: {int32, int64}")
                 .constructor("gather(params, indices, validate_indices)")
                 .shape(gather_shape)
                 .gradient(gather_gradient));
  library.kernel(cpu_kernel("Gather", check_gather, compute_gather));
  library.op(OpDefBuilder("GatherV2")
                 .input("params: Tparams")
                 .input("indices: Tindices")
                 .host_input("axis: Taxis")
                 .output("output: Tparams")
                 .attr("batch_dims: int = 0")
                 .attr("Tparams: type")
                 .attr("Tindices: {int32, int64}")
                 .attr("Taxis: {int32, int64}")
                 .constructor("gather_v2(params, indices, axis, batch_dims)")
                 .shape(gather_shape)
                 .gradient(gather_gradient));
  library.kernel(cpu_kernel("GatherV2", check_gather, compute_gather));
  library.op(OpDefBuilder("ResourceGather")
                 .input("resource: resource")
                 .input("indices: Tindices")
                 .output("output: dtype")
                 .attr("batch_dims: int = 0")
                 .attr("validate_indices: bool = true")
                 .attr("dtype: type")
                 .attr("Tindices: {int32, int64}")
                 .effect(Effect::State)
                 .shape(gather_shape)
                 .gradient(gather_gradient));
  library.kernel(cpu_kernel("ResourceGather", check_gather, compute_gather));
}

}  // namespace troupe
