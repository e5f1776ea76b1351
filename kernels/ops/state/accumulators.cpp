// Accumulators (features.md R3, R4): sums of gradients that several workers apply and one takes. The actor of the accumulator
// carries out all of these ops; a take that has to wait is a pending message there and blocks no thread.
//   ConditionalAccumulator             the handle of an accumulator of tensors of `dtype` and `shape`. Nodes with equal (container,
//                                      shared_name), or else equal node name, share it
//   SparseConditionalAccumulator       the same for rows of such tensors
//   AccumulatorApplyGradient           adds a gradient, or drops it if local_step is less than the accumulator's step
//   AccumulatorTakeGradient            waits for num_required gradients and takes the mean (reduction_type "MEAN") or the sum
//                                      ("SUM") of all that are there; then the accumulator is empty, and its step is one more
//   AccumulatorSetGlobalStep           sets the accumulator's step
//   AccumulatorNumAccumulated          the number of gradients that are there
//   SparseAccumulatorApplyGradient     adds rows, whose numbers need neither be sorted nor differ; has_known_shape says whether
//                                      gradient_shape is the shape of the whole tensor
//   SparseAccumulatorTakeGradient      the rows in ascending order; the mean of a row is that of the gradients that have it
// The handle is a reference to a string; the forms with Resource before their names have a resource.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status scalar_input_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  return no_output_shape(context);
}

Status take_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  return unknown_shape(context);
}

OpDefBuilder accumulator_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder(name)
      .served_by("accumulator")
      .effect(Effect::State)
      .shape(shape)
      .allows_uninitialized_input();  // an accumulator has no value
}

/// An op with outputs; they do not depend on its inputs alone.
OpDefBuilder output_op(const std::string& name, ShapeFunction shape) {
  return accumulator_op(name, shape).not_differentiable();
}

OpDefBuilder handle_op(const std::string& name, const std::string& handle) {
  return output_op(name, scalar_shape)
      .output(handle)
      .attr("dtype: numbertype")
      .attr("shape: shape")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'");
}

void add_dense_ops(OpLibrary& library, const std::string& prefix, const std::string& handle) {
  library.op(handle_op(prefix + "ConditionalAccumulator", handle));
  library.op(accumulator_op(prefix + "AccumulatorApplyGradient", scalar_input_shape)
                 .input(handle)
                 .input("local_step: int64")
                 .input("gradient: dtype")
                 .attr("dtype: numbertype"));
  library.op(output_op(prefix + "AccumulatorTakeGradient", take_shape)
                 .input(handle)
                 .input("num_required: int32")
                 .output("average: dtype")
                 .attr("dtype: numbertype"));
  library.op(accumulator_op(prefix + "AccumulatorSetGlobalStep", scalar_input_shape)
                 .input(handle)
                 .input("new_global_step: int64")
                 .not_differentiable());
  library.op(output_op(prefix + "AccumulatorNumAccumulated", scalar_shape)
                 .input(handle)
                 .output("num_accumulated: int32"));
}

void add_sparse_ops(OpLibrary& library, const std::string& handle) {
  library.op(handle_op("SparseConditionalAccumulator", handle));
  library.op(accumulator_op("SparseAccumulatorApplyGradient", scalar_input_shape)
                 .input(handle)
                 .input("local_step: int64")
                 .input("gradient_indices: int64")
                 .input("gradient_values: dtype")
                 .input("gradient_shape: int64")
                 .attr("dtype: numbertype")
                 .attr("has_known_shape: bool"));
  library.op(output_op("SparseAccumulatorTakeGradient", take_shape)
                 .input(handle)
                 .input("num_required: int32")
                 .output("indices: int64")
                 .output("values: dtype")
                 .output("shape: int64")
                 .attr("dtype: numbertype"));
}

}  // namespace

void add_accumulator_ops(OpLibrary& library) {
  add_dense_ops(library, "", "handle: Ref(string)");
  add_dense_ops(library, "Resource", "handle: resource");
  add_sparse_ops(library, "handle: Ref(string)");
}

}  // namespace troupe
