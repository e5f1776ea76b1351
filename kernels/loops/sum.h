// Sum: adds tensors of one dtype and shape in their order, with the same bits for any number of threads. Integers wrap around;
// half and bfloat16 are summed in float and rounded once. Const after construction; any thread may use it.
#pragma once

#include <span>

#include "devices/pool.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/elementwise.h"
#include "messages/values/tensor.h"

namespace troupe {

class Sum {
 public:
  /// `dtype` must be a number type.
  explicit Sum(DType dtype);
  /// Sets `out` to the sum of two or more terms, which have its dtype and shape and are in host memory. `out` may be the memory
  /// of the first term.
  void add(Pool& pool, std::span<const std::byte* const> terms, Tensor& out) const;

 private:
  void add_block(std::span<const std::byte* const> terms, std::byte* out, size_t begin, size_t end) const;
  void add_narrow(std::span<const std::byte* const> terms, std::byte* out, size_t begin, size_t end) const;

  BinaryLoop add_ = nullptr;
  UnaryLoop widen_ = nullptr, narrow_ = nullptr;  ///< null if no conversion is needed
  size_t bytes_;
};

}  // namespace troupe
