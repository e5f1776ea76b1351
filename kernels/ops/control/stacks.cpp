// Stacks (features.md F16): tensors that loops keep from one iteration to another, last in, first out. A stack is an object of its
// step (kernels/core/step_object.h).
//   StackV2(max_size), Stack()    makes an empty stack of at most `max_size` tensors; any number if negative
//   StackPushV2(handle, elem)     pushes elem and returns it; swap_memory has no effect
//   StackPopV2(handle)            pops the last tensor and returns it
//   StackCloseV2(handle)          releases the remaining tensors
// The ops without V2 are a former version. Each tensor has dtype `elem_type`. The ops fail with
// InvalidArgument if the stack is full, empty or closed, holds another type, or the handle is no handle of a stack. Control edges
// must order the ops: what comes after a push waits for it, and a pop waits for the push whose tensor it needs.
#include <mutex>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/step_object.h"

namespace troupe {
namespace {

class Stack final : public StepObject {
 public:
  explicit Stack(int64_t max_size) : max_size_(max_size) {}

  Status push(Tensor value) {
    const std::lock_guard guard(lock_);
    if (closed_) return invalid_argument("the stack is closed");
    if (max_size_ >= 0 && static_cast<int64_t>(tensors_.size()) >= max_size_)
      return invalid_argument("the stack is full: its max_size is " + std::to_string(max_size_));
    tensors_.push_back(std::move(value));
    return {};
  }

  Result<Tensor> pop(DType dtype) {
    const std::lock_guard guard(lock_);
    if (closed_) return invalid_argument("the stack is closed");
    if (tensors_.empty()) return invalid_argument("the stack is empty: there is nothing to pop");
    // The handle of a TensorArray or another stack is a variant on an edge of dtype resource.
    const bool is_handle = dtype == DType::Resource && tensors_.back().dtype() == DType::Variant;
    if (tensors_.back().dtype() != dtype && !is_handle)
      return invalid_argument("the last tensor of the stack is " + tensors_.back().signature() +
                              ", but elem_type is " + std::string(name(dtype)));
    Tensor value = std::move(tensors_.back());
    tensors_.pop_back();
    return value;
  }

  void close() {
    const std::lock_guard guard(lock_);
    closed_ = true;
    tensors_.clear();
  }

 private:
  const int64_t max_size_;
  std::mutex lock_;
  bool closed_ = false;
  std::vector<Tensor> tensors_;
};

Status run_new(KernelContext& context) {
  int64_t max_size = -1;
  if (context.inputs() != 0) {
    TROUPE_ASSIGN(max_size, integer_scalar(context.input(0), "max_size"));
  }
  return output_handle(context, 0, std::make_shared<Stack>(max_size));
}

Status run_push(KernelContext& context) {
  TROUPE_ASSIGN(const auto stack, object_of<Stack>(context, 0, "stack"));
  context.set_output(0, context.input(1));
  return stack->push(context.input(1));
}

Status run_pop(KernelContext& context) {
  TROUPE_ASSIGN(const auto stack, object_of<Stack>(context, 0, "stack"));
  TROUPE_ASSIGN(Tensor value, stack->pop(context.node().output_types[0].dtype));
  context.set_output(0, std::move(value));
  return {};
}

Status run_close(KernelContext& context) {
  TROUPE_ASSIGN(const auto stack, object_of<Stack>(context, 0, "stack"));
  stack->close();
  return {};
}

Status new_stack_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  return scalar_shape(context);
}

Status push_shape(ShapeContext& context) {
  context.set_output(0, context.input(1));
  return {};
}

/// Begins the definition of an op on a stack.
OpDefBuilder stack_op(const std::string& verb, const std::string& version, ShapeFunction shape) {
  return OpDefBuilder("Stack" + verb + version).effect(Effect::Step).shape(shape);
}

void add_version(OpLibrary& library, const std::string& version) {
  library.op(stack_op("Push", version, push_shape)
                 .input("handle: resource")
                 .input("elem: T")
                 .output("output: T")
                 .attr("T: type")
                 .attr("swap_memory: bool = false"));
  library.op(stack_op("Pop", version, unknown_shape)
                 .input("handle: resource")
                 .output("elem: elem_type")
                 .attr("elem_type: type"));
  library.op(stack_op("Close", version, no_output_shape).input("handle: resource"));
  library.kernel(host_kernel("Stack" + version, run_new).any_type().inexpensive());
  library.kernel(host_kernel("StackPush" + version, run_push).any_type().inexpensive());
  library.kernel(host_kernel("StackPop" + version, run_pop).any_type().inexpensive());
  library.kernel(host_kernel("StackClose" + version, run_close).inexpensive());
}

}  // namespace

void add_stack_ops(OpLibrary& library) {
  library.op(stack_op("", "V2", new_stack_shape)
                 .host_input("max_size: int32")
                 .output("handle: resource")
                 .attr("elem_type: type")
                 .attr("stack_name: string = ''"));
  library.op(stack_op("", "", scalar_shape)
                 .output("handle: resource")
                 .attr("elem_type: type")
                 .attr("stack_name: string = ''"));
  add_version(library, "V2");
  add_version(library, "");
}

}  // namespace troupe
