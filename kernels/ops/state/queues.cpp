// Queues (features.md E1-E10). The actor of the queue carries out all of these ops; an op that has to wait is a pending message
// there and blocks no thread.
//   FIFOQueueV2           the handle of a queue whose elements leave in the order in which they came. Elements are tuples of
//                         `component_types`; `capacity` is the maximum number of elements, -1 for any number. Nodes with equal
//                         (container, shared_name), or else equal node name, share a queue
//   PaddingFIFOQueueV2    the same, but the dimensions that `shapes` leaves unknown may differ between elements: stacked elements
//                         are padded with zeros to the largest among them
//   RandomShuffleQueueV2  the handle of a queue from which each dequeue takes a random element, and leaves `min_after_dequeue`
//                         elements as long as the queue is open. With equal seeds, of which one is not 0, elements that come in
//                         the same order leave in the same order, which is TensorFlow's
//   PriorityQueueV2       the handle of a queue whose elements have an int64 priority before their `component_types`; the element
//                         of the smallest priority leaves first, among equal ones the oldest; a dequeue of several
//                         takes the smallest of all, in order
//   QueueEnqueueV2        adds one element; QueueEnqueueManyV2: one for each row of the components
//   QueueDequeueV2        takes one element
//   QueueDequeueManyV2    takes n elements and stacks them, which needs `shapes`; OutOfRange if the queue is closed and has fewer
//   QueueDequeueUpToV2    like QueueDequeueManyV2, but takes what remains if the queue is closed
//   QueueCloseV2          closes the queue after the pending enqueues, or cancels them
//   QueueIsClosedV2       whether the queue is closed
//   QueueSizeV2           the number of elements
// The forms without V2 take the handle as a reference to a string, as older graphs do.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

using namespace std::string_literals;

/// Sets the shapes of the components that a queue of this graph has. `rows`: how many elements are stacked, a dimension or nothing.
void set_components(ShapeContext& context, const std::vector<int64_t>& rows) {
  const Node& queue = context.source(0);
  const AttrValue* const given = queue.attrs.find("shapes");
  const auto* const shapes = given ? std::get_if<std::vector<PartialShape>>(given) : nullptr;
  if (!shapes || shapes->empty()) return;
  const auto set = [&](size_t output, const PartialShape& shape) {
    if (output >= context.node().output_types.size() || !shape.known_rank()) return;
    std::vector<int64_t> dims = rows;
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    context.set_output(output, PartialShape(std::move(dims)));
  };
  const size_t first = queue.type().starts_with("PriorityQueue") ? 1 : 0;
  if (first == 1) set(0, PartialShape::scalar());
  for (size_t i = 0; i < shapes->size(); ++i) set(first + i, (*shapes)[i]);
}

Status one_shape(ShapeContext& context) {
  set_components(context, {});
  return {};
}

Status many_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const auto count = context.constant_integers(1);
  const bool takes_fewer = context.node().type().starts_with("QueueDequeueUpTo");
  set_components(context, {count && !takes_fewer && (*count)[0] >= 0 ? (*count)[0] : unknown_dim});
  return {};
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

/// The ops that yield a handle.
void add_handle_ops(OpLibrary& library, const std::string& suffix, const std::string& handle) {
  const auto add = [&](const std::string& name, const std::string& constructor, bool may_be_empty,
                       std::initializer_list<std::string_view> more) {
    OpDefBuilder op = queue_op(name, suffix, constructor, scalar_shape);
    op.output(handle);
    op.attr(may_be_empty ? "component_types: list(type) = []" : "component_types: list(type) >= 1");
    op.attr("shapes: list(shape) = []").attr("capacity: int = -1");
    for (const std::string_view attr : more) op.attr(std::string(attr));
    library.op(op.attr("container: string = ''").attr("shared_name: string = ''"));
  };
  add("FIFOQueue", "fifo_queue(component_types, shapes, capacity, container, shared_name)", false, {});
  add("PaddingFIFOQueue", "padding_fifo_queue(component_types, shapes, capacity, container, shared_name)",
      false, {});
  add("RandomShuffleQueue",
      "random_shuffle_queue(component_types, shapes, capacity, min_after_dequeue, seed, seed2, container, "
      "shared_name)",
      false, {"min_after_dequeue: int = 0", "seed: int = 0", "seed2: int = 0"});
  add("PriorityQueue", "priority_queue(component_types, shapes, capacity, container, shared_name)", true, {});
}

/// One generation of the ops: the suffix of their names and the type of their handle.
void add_queue_generation(OpLibrary& library, const std::string& suffix, const std::string& handle_type) {
  const std::string handle = "handle: " + handle_type;
  add_handle_ops(library, suffix, handle);
  for (const auto& [name, constructor] :
       {std::pair{"QueueEnqueue", "queue_enqueue"}, {"QueueEnqueueMany", "queue_enqueue_many"}})
    library.op(queue_op(name, suffix, constructor + "(handle, components, timeout_ms)"s, no_output_shape)
                   .input(handle)
                   .input("components: Tcomponents")
                   .attr("Tcomponents: list(type) >= 1")
                   .attr("timeout_ms: int = -1"));
  library.op(queue_op("QueueDequeue", suffix, "queue_dequeue(handle, component_types, timeout_ms)", one_shape)
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
  library.op(queue_op("QueueIsClosed", suffix, "queue_is_closed(handle)", scalar_shape)
                 .input(handle)
                 .output("is_closed: bool"));
  library.op(
      queue_op("QueueSize", suffix, "queue_size(handle)", scalar_shape).input(handle).output("size: int32"));
}

}  // namespace

void add_queue_ops(OpLibrary& library) {
  add_queue_generation(library, "", "Ref(string)");
  add_queue_generation(library, "V2", "resource");
}

}  // namespace troupe
