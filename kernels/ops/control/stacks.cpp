// Stacks (features.md F14): tensors that loops keep from one iteration to another, last in, first out. A stack lives as long as
// the step; the step itself runs these ops.
//   StackV2(max_size)             makes an empty stack of at most `max_size` tensors; any number if negative
//   StackPushV2(handle, elem)     pushes elem and returns it; swap_memory has no effect
//   StackPopV2(handle)            pops the last tensor and returns it
//   StackCloseV2(handle)          releases the remaining tensors
// Each tensor has dtype `elem_type`. The ops fail with InvalidArgument if the stack is full or empty, holds another type, or the
// handle is no handle of a stack. Control edges must order the ops: what comes after a push waits for it, and a pop waits for the
// push whose tensor it needs.
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
