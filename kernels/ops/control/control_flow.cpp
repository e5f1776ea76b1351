// Dynamic control flow (features.md F1-F11): the ops of conditionals and loops. The step itself runs them.
//   Switch(data, pred)    if pred is true, output_true is data and output_false is dead; else the other way round
//   Merge(inputs...)      the first live input and its index; dead if all inputs are dead
//   Enter(data)           passes data to iteration 0 of the child frame `frame_name`; with is_constant, to every iteration
//   NextIteration(data)   passes data to the next iteration of its frame; at most `parallel_iterations` are open
//   Exit(data)            passes data out of the frame, to its parent
//   LoopCond(pred)        the predicate of the Switch nodes of a frame, marked for the partitioner
//   ControlTrigger        alive even if its control inputs are dead
//   RefIdentity(ref)      the reference; FailedPrecondition if `_initialized` requires a value and the variable has none
// The Ref forms pass the reference on. The shape of Enter is unknown unless is_constant is set, because the loop may change it. A
// resource handle keeps the shape of the value of its variable.
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status switch_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  return unchanged_shape(context);
}

Status merge_shape(ShapeContext& context) {
  PartialShape shape = context.input(0);
  for (size_t i = 1; i < context.inputs(); ++i) shape = common(shape, context.input(i));
  context.set_output(0, std::move(shape));
  context.set_output(1, PartialShape::scalar());
  return {};
}

Status enter_shape(ShapeContext& context) {
  const bool stays = context.attr<bool>("is_constant") || context.input_dtype(0) == DType::Resource;
  return stays ? unchanged_shape(context) : unknown_shape(context);
}

Status loop_cond_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  return scalar_shape(context);
}

void ref_identity_gradient(GradientContext& context) { context.set(0, context.gradient()); }

/// Returns the gradient of an output of a Switch, with a value only if that output has one. That of a handle is the gradient of the
/// variable's value.
Output gradient_of_side(const GradientContext& context, uint32_t side) {
  if (!context.has_gradient(side) && context.scope().dtype(context.input(0)) == DType::Resource) {
    const DType dtype = context.scope().dtype(context.gradient(1 - side));
    const Output value =
        context.scope().add_one("ReadVariableOp", {context.output(side)}, {{"dtype", dtype}});
    return context.scope().add_one("ZerosLike", {value});
  }
  return {context.scope().add("Switch", {context.gradient(side), context.input(1)}), side};
}

/// The gradient of a Switch in a conditional: that of the side which was taken. gradients() handles those of loops.
void switch_gradient(GradientContext& context) {
  context.set(0,
              context.scope().add_one("Merge", {gradient_of_side(context, 0), gradient_of_side(context, 1)}));
}

/// The gradient goes to the input that the Merge has passed on.
void merge_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const size_t inputs = context.node().inputs.size();
  const Output gradient = context.gradient(), passed = context.output(1);
  for (size_t i = 1; i < inputs; ++i) {
    const Output is_it = scope.add_one("Equal", {passed, integer_constant(scope, static_cast<int64_t>(i))});
    const NodeId sides = scope.add("Switch", {gradient, is_it});
    context.set(i, Output{sides, 1});
    if (inputs == 2) context.set(0, Output{sides, 0});
  }
  if (inputs == 2) return;
  const Output is_first = scope.add_one("Equal", {passed, integer_constant(scope, 0)});
  context.set(0, Output{scope.add("Switch", {gradient, is_first}), 1});
}

/// A value that is the same in each iteration may be differentiated inside the loop. Whole loops are differentiated by gradients().
void enter_gradient(GradientContext& context) {
  if (!context.attr<bool>("is_constant"))
    throw Error(unimplemented(
                    "inside a loop, a gradient cannot flow through the first value of a variable of the loop")
                    .at_node(context.node().type(), context.node().name));
  context.set(0, context.gradient());
}

OpDefBuilder control_op(std::string name, ShapeFunction shape) {
  return OpDefBuilder(std::move(name)).served_by_step().effect(Effect::Step).shape(shape);
}

void add_switches(OpLibrary& library) {
  library.op(control_op("Switch", switch_shape)
                 .input("data: T")
                 .input("pred: bool")
                 .output("output_false: T")
                 .output("output_true: T")
                 .attr("T: type")
                 .gradient(switch_gradient));
  library.op(control_op("RefSwitch", switch_shape)
                 .input("data: Ref(T)")
                 .input("pred: bool")
                 .output("output_false: Ref(T)")
                 .output("output_true: Ref(T)")
                 .attr("T: type")
                 .allows_uninitialized_input()
                 .gradient(switch_gradient));
  library.op(control_op("Merge", merge_shape)
                 .input("inputs: N * T")
                 .output("output: T")
                 .output("value_index: int32")
                 .attr("T: type")
                 .attr("N: int >= 1")
                 .gradient(merge_gradient));
  library.op(control_op("RefMerge", merge_shape)
                 .input("inputs: Ref(N * T)")
                 .output("output: Ref(T)")
                 .output("value_index: int32")
                 .attr("T: type")
                 .attr("N: int >= 1")
                 .allows_uninitialized_input()
                 .gradient(merge_gradient));
}

void add_loop_ops(OpLibrary& library) {
  library.op(control_op("Enter", enter_shape)
                 .input("data: T")
                 .output("output: T")
                 .attr("T: type")
                 .attr("frame_name: string")
                 .attr("is_constant: bool = false")
                 .attr("parallel_iterations: int >= 1 = 10")
                 .gradient(enter_gradient));
  library.op(control_op("RefEnter", unchanged_shape)
                 .input("data: Ref(T)")
                 .output("output: Ref(T)")
                 .attr("T: type")
                 .attr("frame_name: string")
                 .attr("is_constant: bool = false")
                 .attr("parallel_iterations: int >= 1 = 10")
                 .allows_uninitialized_input()
                 .gradient(enter_gradient));
  for (const char* name : {"Exit", "NextIteration"}) {
    library.op(control_op(name, unchanged_shape).input("data: T").output("output: T").attr("T: type"));
    library.op(control_op(std::string("Ref") + name, unchanged_shape)
                   .input("data: Ref(T)")
                   .output("output: Ref(T)")
                   .attr("T: type")
                   .allows_uninitialized_input());
  }
  library.op(control_op("LoopCond", loop_cond_shape)
                 .input("input: bool")
                 .output("output: bool")
                 .not_differentiable());
}

}  // namespace

void add_control_flow_ops(OpLibrary& library) {
  add_switches(library);
  add_loop_ops(library);
  library.op(control_op("ControlTrigger", no_output_shape).not_differentiable());
  library.op(control_op("RefIdentity", unchanged_shape)
                 .input("input: Ref(T)")
                 .output("output: Ref(T)")
                 .attr("T: type")
                 .attr("_initialized: bool = false")
                 .allows_uninitialized_input()
                 .gradient(ref_identity_gradient));
}

}  // namespace troupe
