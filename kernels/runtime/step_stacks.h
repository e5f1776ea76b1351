// StepStacks: the stacks of one running step (features.md F14), in which loops keep what their gradients take up again, last first. They
// go with the step. The driving thread's.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe {

class StepStacks {
 public:
  /// An empty one, of `most` tensors at most; any number when that is negative. Its handle: an int64 scalar.
  Tensor make(int64_t most);
  /// InvalidArgument when it is full, or the handle is that of none.
  Status push(const Tensor& handle, Tensor value);
  /// InvalidArgument when it is empty, closed, or its last tensor is not of this type.
  Result<Tensor> pop(const Tensor& handle, DType dtype);
  /// Lets go of what is in it; nothing can be pushed any more.
  Status close(const Tensor& handle);
  void clear() { stacks_.clear(); }

 private:
  struct Stack {
    int64_t most = 0;
    std::vector<Tensor> tensors;
  };
  Result<Stack*> find(const Tensor& handle);

  std::vector<Stack> stacks_;
};

}  // namespace troupe
