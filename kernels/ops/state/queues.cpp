// First-in, first-out queues (features.md E1-E5, E9, E10). The actor of the queue carries out all of these ops; an op that has to
// wait is a pending message there and blocks no thread.
//   FIFOQueueV2           the handle. Elements are tuples of `component_types`; `capacity` is the maximum number of elements, -1
//                         for any number. Nodes with equal (container, shared_name), or else equal node name, share a queue
//   QueueEnqueueV2        adds one element; QueueEnqueueManyV2: one for each row of the components
//   QueueDequeueV2        takes one element
//   QueueDequeueManyV2    takes n elements and stacks them, which needs `shapes`; OutOfRange if the queue is closed and has fewer
//   QueueDequeueUpToV2    like QueueDequeueManyV2, but takes what remains if the queue is closed
//   QueueCloseV2          closes the queue after the pending enqueues, or cancels them
//   QueueSizeV2           the number of elements
// The forms without V2 take the handle as a reference to a string, as older graphs do.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

using namespace std::string_literals;

Status many_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  return unknown_shape(context);
}

/// Only the V2 ops have constructors, because a constructor name belongs to one op.
OpDefBuilder queue_op(const std::string& name, const std::string& suffix, const std::string& constructor,
                      ShapeFunction shape) {
  OpDefBuilder op(name + suffix);
  if (!suffix.empty()) op.constructor(constructor);
  return op.served_by("queue")
      .effect(Effect::State)
      .shape(shape)
      .allows_uninitialized_input()  // a queue has no value
      .not_differentiable();
}

/// One generation of the ops: the suffix of their names and the type of their handle.
void add_queue_generation(OpLibrary& library, const std::string& suffix, const std::string& handle_type) {
  const std::string handle = "handle: " + handle_type;
  library.op(queue_op("FIFOQueue", suffix,
                      "fifo_queue(component_types, shapes, capacity, container, shared_name)", scalar_shape)
                 .output(handle)
                 .attr("component_types: list(type) >= 1")
                 .attr("shapes: list(shape) = []")
                 .attr("capacity: int = -1")
                 .attr("container: string = ''")
                 .attr("shared_name: string = ''"));
  for (const auto& [name, constructor] :
       {std::pair{"QueueEnqueue", "queue_enqueue"}, {"QueueEnqueueMany", "queue_enqueue_many"}})
    library.op(queue_op(name, suffix, constructor + "(handle, components, timeout_ms)"s, no_output_shape)
                   .input(handle)
                   .input("components: Tcomponents")
                   .attr("Tcomponents: list(type) >= 1")
                   .attr("timeout_ms: int = -1"));
  library.op(
      queue_op("QueueDequeue", suffix, "queue_dequeue(handle, component_types, timeout_ms)", unknown_shape)
          .input(handle)
          .output("components: component_types")
          .attr("component_types: list(type) >= 1")
          .attr("timeout_ms: int = -1"));
  for (const auto& [name, constructor] :
       {std::pair{"QueueDequeueMany", "queue_dequeue_many"}, {"QueueDequeueUpTo", "queue_dequeue_up_to"}})
    library.op(queue_op(name, suffix, constructor + "(handle, n, component_types, timeout_ms)"s, many_shape)
                   .input(handle)
                   .input("n: int32")
                   .output("components: component_types")
                   .attr("component_types: list(type) >= 1")
                   .attr("timeout_ms: int = -1"));
  library.op(queue_op("QueueClose", suffix, "queue_close(handle, cancel_pending_enqueues)", no_output_shape)
                 .input(handle)
                 .attr("cancel_pending_enqueues: bool = false"));
  library.op(
      queue_op("QueueSize", suffix, "queue_size(handle)", scalar_shape).input(handle).output("size: int32"));
}

}  // namespace

void add_queue_ops(OpLibrary& library) {
  add_queue_generation(library, "", "Ref(string)");
  add_queue_generation(library, "V2", "resource");
}

}  // namespace troupe
