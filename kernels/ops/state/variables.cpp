// Variables (features.md D1, D4): state that outlives steps.
//   VariableV2              the reference
//   Variable                the same in older graphs: a scalar `shape` may also mean an unknown shape
//   VarHandleOp             the handle, as a resource
//   ReadVariableOp          the current value: a snapshot, which later writes do not change
//   IsVariableInitialized   whether a reference leads to a value; VarIsInitializedOp: whether a resource does
// The step outputs references and handles; the group that owns the cell carries out the other ops. Nodes with equal (container,
// shared_name), or else equal node name, share a variable. The edge of a handle has the shape of the value of its variable, like a
// reference.
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
  // The handle alone does not determine the dtype, so this op, unlike the others, has none.
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
