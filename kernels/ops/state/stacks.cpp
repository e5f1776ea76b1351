// Stacks (features.md F14): tensors kept from one iteration of a loop to another, last in, first out, as long as the step.
//   StackV2(max_size)             an empty one, of at most so many; any number when negative
//   StackPushV2(handle, elem)     elem, which lies on top from now on; swap_memory is not needed
//   StackPopV2(handle)            what lies on top, which leaves it
//   StackCloseV2(handle)          lets go of what is left
// Of `elem_type` each. InvalidArgument: it is full or empty, holds another type, or the handle is not that of a stack. The step itself
// carries them out. What comes after a push must wait for it, and a pop for what it wants to find.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

OpDefBuilder stack_op(std::string name, ShapeFunction shape) {
  return OpDefBuilder(std::move(name)).served_by_step().effect(Effect::Step).shape(shape);
}

Status new_stack_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  return scalar_shape(context);
}

Status push_shape(ShapeContext& context) {
  context.set_output(0, context.input(1));
  return {};
}

}  // namespace

void add_stack_ops(OpLibrary& library) {
  library.op(stack_op("StackV2", new_stack_shape)
                 .input("max_size: int32")
                 .output("handle: resource")
                 .attr("elem_type: type")
                 .attr("stack_name: string = ''"));
  library.op(stack_op("StackPushV2", push_shape)
                 .input("handle: resource")
                 .input("elem: T")
                 .output("output: T")
                 .attr("T: type")
                 .attr("swap_memory: bool = false"));
  library.op(stack_op("StackPopV2", unknown_shape)
                 .input("handle: resource")
                 .output("elem: elem_type")
                 .attr("elem_type: type"));
  library.op(stack_op("StackCloseV2", no_output_shape).input("handle: resource"));
}

}  // namespace troupe
