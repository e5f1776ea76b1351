// First-in, first-out queues (features.md E1-E5, E9, E10). The queue's actor carries all of it out; what must
// wait is a pending message there, and holds no thread.
//   FIFOQueueV2           the handle. Elements are tuples of `component_types`; `capacity` -1: any number of
//                         them. Equal (container, shared_name), or else equal node name, is the same queue
//   QueueEnqueueV2        one element; QueueEnqueueManyV2: one per row of the components
//   QueueDequeueV2        one element
//   QueueDequeueManyV2    n of them stacked, which needs `shapes`; OutOfRange when closed and short of n
//   QueueDequeueUpToV2    the same, but what remains when the queue is closed
//   QueueCloseV2          after the pending enqueues, or cancelling them
//   QueueSizeV2           number of elements
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

/// Only the newer generation has constructors: names are for one op each.
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

/// One generation of the ops: their suffix and the type of their handle.
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
