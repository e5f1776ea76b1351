// Helpers shared by the kernels of variable ops: a reference input becomes the new value of its variable, in place if nobody
// else holds the old value. The check of a kernel makes a NewValue; the thread that runs the kernel uses it within one run.
#pragma once

#include <span>

#include "kernels/core/kernel.h"

namespace troupe {

/// The new value of a variable while it is computed. `before` may be the memory of `after`.
struct NewValue {
  Tensor* after = nullptr;  ///< the output
  const std::byte* old = nullptr;
  Tensor source;  ///< keeps `old` alive if it is other memory

  template <class T>
  std::span<const T> before() const {
    return {reinterpret_cast<const T*>(old), static_cast<size_t>(after->elements())};
  }
  /// For rules on the CPU that change only some rows: afterwards `after` has all elements of `before`.
  void bring_over(Pool& pool) const;
};

/// Allocates the new value of reference input i, with its shape, as output i. The input must not be used afterwards.
Result<NewValue> new_value(KernelContext& context, size_t i);

/// Fails with InvalidArgument unless inputs a and b have the same shape.
Status require_same_shape(const KernelContext& context, size_t a, size_t b);

/// Begins the definition of an op that writes variables.
OpDefBuilder write_op(std::string name, ShapeFunction shape);

}  // namespace troupe
