#include "kernels/runtime/step_stacks.h"

namespace troupe {

Tensor StepStacks::make(int64_t max_size) {
  stacks_.push_back({max_size < 0 ? INT64_MAX : max_size, {}});
  return Tensor::scalar(static_cast<int64_t>(stacks_.size()) - 1);
}

Status StepStacks::push(const Tensor& handle, Tensor value) {
  TROUPE_ASSIGN(Stack* const stack, find(handle));
  if (static_cast<int64_t>(stack->tensors.size()) >= stack->max_size)
    return invalid_argument("the stack is full: its max_size is " + std::to_string(stack->max_size));
  stack->tensors.push_back(std::move(value));
  return {};
}

Result<Tensor> StepStacks::pop(const Tensor& handle, DType dtype) {
  TROUPE_ASSIGN(Stack* const stack, find(handle));
  if (stack->tensors.empty()) return invalid_argument("the stack is empty: there is nothing to pop");
  Tensor value = std::move(stack->tensors.back());
  stack->tensors.pop_back();
  if (value.dtype() != dtype)
    return invalid_argument("the last tensor of the stack is " + value.signature() + ", but elem_type is " +
                            std::string(name(dtype)));
  return value;
}

Status StepStacks::close(const Tensor& handle) {
  TROUPE_ASSIGN(Stack* const stack, find(handle));
  *stack = {};
  return {};
}

Result<StepStacks::Stack*> StepStacks::find(const Tensor& handle) {
  if (handle.dtype() != DType::Int64 || handle.elements() != 1 ||
      handle.as<int64_t>()[0] >= static_cast<int64_t>(stacks_.size()))
    return invalid_argument("the input is not the handle of a stack of this step");
  return &stacks_[static_cast<size_t>(handle.as<int64_t>()[0])];
}

}  // namespace troupe
