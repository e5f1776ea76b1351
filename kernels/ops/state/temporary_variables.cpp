// Variables of one step (features.md C11).
//   TemporaryVariable()             the reference of a new variable of this shape, which must be known; its value is zeros. It is
//                                   known to the step by `var_name`, else by the name of the node. AlreadyExists if the step has
//                                   one of this name on this device. What changes and reads variables changes and reads it, too
//   DestroyTemporaryVariable(ref)   the value; the step forgets the variable called `var_name`. NotFound if it has none
// A variable that is not destroyed ends with its step. Control edges must have all changes end before the variable is destroyed.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status shape_of_attribute(ShapeContext& context) {
  context.set_output(0, context.attr<PartialShape>("shape"));
  return {};
}

OpDefBuilder temporary_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder(name).served_by("temporary_variable").effect(Effect::Step).shape(shape);
}

}  // namespace

void add_temporary_variable_ops(OpLibrary& library) {
  library.op(temporary_op("TemporaryVariable", shape_of_attribute)
                 .output("ref: Ref(dtype)")
                 .attr("shape: shape")
                 .attr("dtype: type")
                 .attr("var_name: string = ''"));
  library.op(temporary_op("DestroyTemporaryVariable", unchanged_shape)
                 .input("ref: Ref(T)")
                 .output("value: T")
                 .attr("T: type")
                 .attr("var_name: string"));
}

}  // namespace troupe
