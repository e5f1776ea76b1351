// StepStacks: the stacks of one running step (features.md F14), on which loops keep values that their gradients need again,
// last in first out. The stacks end with the step. Only the driving thread may use them.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe {

class StepStacks {
 public:
  /// Makes an empty stack for at most `max_size` tensors (negative: any number) and returns its handle, an int64 scalar.
  Tensor make(int64_t max_size);
  /// Pushes a value. Fails with InvalidArgument if the stack is full or closed, or the handle is no handle of a stack.
  Status push(const Tensor& handle, Tensor value);
  /// Pops the last value. Fails with InvalidArgument if the stack is empty or closed, the value is not of this dtype, or the
  /// handle is no handle of a stack.
  Result<Tensor> pop(const Tensor& handle, DType dtype);
  /// Releases the values of the stack; no value can be pushed any more.
  Status close(const Tensor& handle);
  void clear() { stacks_.clear(); }

 private:
  struct Stack {
    int64_t max_size = 0;
    std::vector<Tensor> tensors;
  };
  Result<Stack*> find(const Tensor& handle);

  std::vector<Stack> stacks_;
};

}  // namespace troupe
