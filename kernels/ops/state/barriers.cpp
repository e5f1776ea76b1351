// Barriers: elements whose components come one by one, by the elements' keys. The actor of the barrier carries out all of these
// ops; a take that has to wait is a pending message there and blocks no thread.
//   Barrier                the handle of a barrier whose elements have components of `component_types` and `shapes`. Nodes with
//                          equal (container, shared_name), or else equal node name, share it
//   BarrierInsertMany      gives each key its value of component `component_index`; an element with all components is ready
//   BarrierTakeMany        waits for num_elements ready elements, takes and stacks them: numbers that grow with the requests in
//                          which the elements came first, keys, components. OutOfRange if the barrier is closed and will not
//                          have as many; with allow_small_batch it then takes those that are ready. wait_for_incomplete has no
//                          effect, as in TensorFlow
//   BarrierClose           from now on only elements whose key is known can become ready; with cancel_pending_enqueues none
//   BarrierReadySize       the number of elements that are ready
//   BarrierIncompleteSize  the number of those that are not
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status insert_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape keys, context.with_rank(1, 1));
  const PartialShape& values = context.input(2);
  if (!values.known_rank()) return no_output_shape(context);
  if (values.rank() == 0) return invalid_argument("values is a scalar, but must have at least rank 1");
  if (!keys.known_rank() || keys.compatible_with(PartialShape{values[0]})) return no_output_shape(context);
  return invalid_argument("keys of shape " + keys.text() + " and values of shape " + values.text() +
                          " must have the same number of rows");
}

OpDefBuilder barrier_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder(name)
      .served_by("barrier")
      .effect(Effect::State)
      .shape(shape)
      .allows_uninitialized_input()  // a barrier has no value
      .not_differentiable();
}

}  // namespace

void add_barrier_ops(OpLibrary& library) {
  const std::string handle = "handle: Ref(string)";
  library.op(barrier_op("Barrier", scalar_shape)
                 .output(handle)
                 .attr("component_types: list(type) >= 1")
                 .attr("shapes: list(shape) = []")
                 .attr("capacity: int = -1")
                 .attr("container: string = ''")
                 .attr("shared_name: string = ''"));
  library.op(barrier_op("BarrierInsertMany", insert_shape)
                 .input(handle)
                 .input("keys: string")
                 .input("values: T")
                 .attr("T: type")
                 .attr("component_index: int"));
  library.op(barrier_op("BarrierTakeMany", unknown_shape)
                 .input(handle)
                 .input("num_elements: int32")
                 .output("indices: int64")
                 .output("keys: string")
                 .output("values: component_types")
                 .attr("component_types: list(type) >= 1")
                 .attr("allow_small_batch: bool = false")
                 .attr("wait_for_incomplete: bool = false")
                 .attr("timeout_ms: int = -1"));
  library.op(barrier_op("BarrierClose", no_output_shape)
                 .input(handle)
                 .attr("cancel_pending_enqueues: bool = false"));
  for (const char* op : {"BarrierReadySize", "BarrierIncompleteSize"})
    library.op(barrier_op(op, scalar_shape).input(handle).output("size: int32"));
}

}  // namespace troupe
