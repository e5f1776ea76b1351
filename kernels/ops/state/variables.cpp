// Variables (features.md D1, D4): state that outlives steps.
//   VariableV2              the reference
//   Variable                the same, of older graphs: a scalar `shape` may also mean an unknown one
//   VarHandleOp             the handle, as a resource
//   ReadVariableOp          the current value: a snapshot, whatever is written later
//   IsVariableInitialized   of a reference; VarIsInitializedOp: of a resource
// The step yields references and handles; the group that owns the cell answers the rest. Equal (container,
// shared_name), or else equal node name, is the same variable. A handle's edge has the shape of the value it
// leads to, as a reference has.
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status declared_shape(ShapeContext& context) {
  context.set_output(0, context.attr<PartialShape>("shape"));
  return {};
}

Status legacy_shape(ShapeContext& context) {
  const auto& shape = context.attr<PartialShape>("shape");
  context.set_output(0, shape.has_rank(0) ? PartialShape{} : shape);
  return {};
}

void read_gradient(GradientContext& context) { context.set(0, context.gradient()); }

OpDefBuilder handle_op(std::string name, std::string_view output, ShapeFunction shape) {
  return OpDefBuilder(std::move(name))
      .output(output)
      .attr("shape: shape")
      .attr("dtype: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .served_by_step()
      .effect(Effect::State)
      .shape(shape)
      .not_differentiable();
}

OpDefBuilder query_op(std::string name, std::string_view input, std::string_view output,
                      ShapeFunction shape) {
  return OpDefBuilder(std::move(name))
      .input(input)
      .output(output)
      .attr("dtype: type")
      .served_by(variable_service)
      .effect(Effect::State)
      .shape(shape);
}

}  // namespace

void add_variable_ops(OpLibrary& library) {
  library.op(handle_op("VariableV2", "ref: Ref(dtype)", declared_shape));
  library.op(handle_op("Variable", "ref: Ref(dtype)", legacy_shape));
  library.op(handle_op("VarHandleOp", "resource: resource", declared_shape));
  library.op(query_op("ReadVariableOp", "resource: resource", "value: dtype", unchanged_shape)
                 .gradient(read_gradient));
  library.op(query_op("IsVariableInitialized", "ref: Ref(dtype)", "is_initialized: bool", scalar_shape)
                 .allows_uninitialized_input()
                 .not_differentiable());
  // Its handle alone does not tell the dtype, so unlike the others it has none.
  library.op(OpDefBuilder("VarIsInitializedOp")
                 .input("resource: resource")
                 .output("is_initialized: bool")
                 .served_by(variable_service)
                 .effect(Effect::State)
                 .shape(scalar_shape)
                 .allows_uninitialized_input()
                 .not_differentiable());
}

}  // namespace troupe
