// Handles of tensors that a session keeps between steps (features.md C12). The actor of the device on which a handle was made keeps
// the tensor; it is dropped with its session.
//   GetSessionHandle(value)      keeps a tensor; its handle, a string that ends with ';' and the name of the device
//   GetSessionTensor(handle)     the tensor, on any device of the session
//   DeleteSessionTensor(handle)  drops the tensor
// A handle that is unknown, or belongs to another session, is InvalidArgument.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

OpDefBuilder session_op(std::string name) {
  return OpDefBuilder(std::move(name))
      .served_by("session_tensors")
      .effect(Effect::State)
      .not_differentiable();
}

Status check_handle(const ShapeContext& context) { return context.with_rank(0, 0).status(); }

}  // namespace

void add_session_tensor_ops(OpLibrary& library) {
  library.op(session_op("GetSessionHandle")
                 .input("value: T")
                 .output("handle: string")
                 .attr("T: type")
                 .shape(scalar_shape));
  library.op(session_op("GetSessionTensor")
                 .input("handle: string")
                 .output("value: dtype")
                 .attr("dtype: type")
                 .shape([](ShapeContext& context) {
                   TROUPE_RETURN_IF_FAILED(check_handle(context));
                   return unknown_shape(context);
                 }));
  library.op(session_op("DeleteSessionTensor").input("handle: string").shape([](ShapeContext& context) {
    return check_handle(context);
  }));
}

}  // namespace troupe
