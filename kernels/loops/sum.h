// Sum: terms of one dtype and shape added in their order, whatever the number of threads. Integers wrap around; half and bfloat16 are
// summed in float and rounded once. Const once made; any thread.
#pragma once

#include <span>

#include "devices/pool.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/elementwise.h"
#include "messages/values/tensor.h"

namespace troupe {

class Sum {
 public:
  explicit Sum(DType dtype);  ///< a number
  /// `out` becomes the sum of `terms`, two or more of its shape in host memory; its own memory may be that of the first.
  void add(Pool& pool, std::span<const std::byte* const> terms, Tensor& out) const;

 private:
  void add_block(std::span<const std::byte* const> terms, std::byte* out, size_t begin, size_t end) const;
  void add_narrow(std::span<const std::byte* const> terms, std::byte* out, size_t begin, size_t end) const;

  BinaryLoop add_ = nullptr;
  UnaryLoop widen_ = nullptr, narrow_ = nullptr;  ///< null: not needed
  size_t bytes_;
};

}  // namespace troupe
