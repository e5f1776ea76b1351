// Batches of the rows of several steps, which run at the same time, so that they are computed together. The actors of the batches
// carry out these ops. Nodes with equal (container, shared_name), or else equal node name, share a state; the attributes of the
// first of them count.
//   Batch(tensors...)           joins the rows of these tensors with those of other steps, in the order in which they came. A
//                               batch is complete when it has `max_batch_size` rows, when the next rows do not fit into it, or
//                               after `batch_timeout_micros`. One of its steps gets the batch and its index, int64[n,3], which
//                               has an id, a begin and an end for each step; the others get tensors without rows. All get their
//                               own ids. A batch is filled up to one of the `allowed_batch_sizes` with copies of its first row.
//                               Nodes only join batches of equal `batching_queue`. Unavailable if rows do not fit into the batch
//                               and `max_enqueued_batches` is 1 or 0
//   Unbatch(batch, index, id)   the rows of a batch that belong to the step of this id. The step whose index has rows brings the
//                               parts of all; a step waits for its part, and a part for its step, for `timeout_micros`.
//                               DeadlineExceeded if the part does not come
//   UnbatchGrad(batch, index, gradient, id)   for the step whose batch has elements the gradients of all parts, in the order of
//                               the index; for the others no rows
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

/// Returns the shape with any number of rows.
Result<PartialShape> with_any_rows(const ShapeContext& context, size_t input) {
  const PartialShape& shape = context.input(input);
  if (!shape.known_rank()) return shape;
  if (shape.has_rank(0))
    return invalid_argument("input " + std::to_string(input) +
                            " is a scalar, but must have at least one dimension");
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = unknown_dim;
  return PartialShape(std::move(dims));
}

Status batch_shape(ShapeContext& context) {
  const size_t tensors = context.inputs();
  for (size_t i = 0; i < tensors; ++i) {
    TROUPE_ASSIGN(PartialShape shape, with_any_rows(context, i));
    context.set_output(i, std::move(shape));
  }
  context.set_output(tensors, PartialShape{unknown_dim, 3});
  context.set_output(tensors + 1, PartialShape::scalar());
  return {};
}

Status unbatch_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, with_any_rows(context, 0));
  context.set_output(0, std::move(shape));
  return {};
}

Status unbatch_gradient_shape(ShapeContext& context) {
  const PartialShape& gradient = context.input(2);
  if (!gradient.known_rank()) return unknown_shape(context);
  context.set_output(0, PartialShape(std::vector<int64_t>(gradient.rank(), unknown_dim)));
  return {};
}

void batch_gradient(GradientContext& context) {
  const Node& batch = context.node();
  const auto inputs = static_cast<uint32_t>(batch.inputs.size());
  const Attributes attrs{{"timeout_micros", batch.attrs.get<int64_t>("grad_timeout_micros")}};
  for (uint32_t i = 0; i < inputs; ++i) {
    if (!context.has_gradient(i)) continue;
    Attributes named = attrs;
    named.set("shared_name", "batch_gradient_" + batch.name + '_' + std::to_string(i));
    context.set(
        i, context.scope().add_one(
               "Unbatch", {context.gradient(i), context.output(inputs), context.output(inputs + 1)}, named));
  }
}

void unbatch_gradient(GradientContext& context) {
  const Attributes named{{"shared_name", "unbatch_gradient_" + context.node().name}};
  context.set(0, context.scope().add_one(
                     "UnbatchGrad",
                     {context.input(0), context.input(1), context.gradient(), context.input(2)}, named));
}

OpDefBuilder batch_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder(name)
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .served_by("batch")
      .effect(Effect::State)
      .shape(shape);
}

}  // namespace

void add_batch_ops(OpLibrary& library) {
  library.op(batch_op("Batch", batch_shape)
                 .input("in_tensors: T")
                 .output("batched_tensors: T")
                 .output("batch_index: int64")
                 .output("id: int64")
                 .attr("num_batch_threads: int")
                 .attr("max_batch_size: int")
                 .attr("max_enqueued_batches: int = 10")
                 .attr("batch_timeout_micros: int")
                 .attr("allowed_batch_sizes: list(int) = []")
                 .attr("grad_timeout_micros: int")
                 .attr("batching_queue: string = ''")
                 .attr("T: list(type)")
                 .gradient(batch_gradient));
  library.op(batch_op("Unbatch", unbatch_shape)
                 .input("batched_tensor: T")
                 .input("batch_index: int64")
                 .input("id: int64")
                 .output("unbatched_tensor: T")
                 .attr("timeout_micros: int")
                 .attr("T: type")
                 .gradient(unbatch_gradient));
  library.op(batch_op("UnbatchGrad", unbatch_gradient_shape)
                 .input("original_input: T")
                 .input("batch_index: int64")
                 .input("grad: T")
                 .input("id: int64")
                 .output("batched_grad: T")
                 .attr("T: type"));
}

}  // namespace troupe
