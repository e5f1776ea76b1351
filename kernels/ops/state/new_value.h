// What the kernels of variable ops share: a ref input in, its new value out, in place when nobody else holds
// the old one. Made by the check of a kernel; used within one run of it, by its thread.
#pragma once

#include <span>

#include "kernels/core/kernel.h"

namespace troupe {

/// The new value of a variable in the making. `before` may be the memory of `after`.
struct NewValue {
  Tensor* after = nullptr;  ///< the output
  const std::byte* old = nullptr;
  Tensor source;  ///< keeps `old` alive when it is other memory

  template <class T>
  std::span<const T> before() const {
    return {reinterpret_cast<const T*>(old), static_cast<size_t>(after->elements())};
  }
  /// On the CPU, for rules that change only some rows: `after` holds all that `before` held.
  void bring_over(Pool& pool) const;
};

/// Memory for the new value of ref input i, as output i, with the shape it has. The input must not be used afterwards.
Result<NewValue> new_value(KernelContext& context, size_t i);

/// InvalidArgument unless inputs a and b have one shape.
Status require_same_shape(const KernelContext& context, size_t a, size_t b);

/// The definition, begun, of an op that writes variables.
OpDefBuilder write_op(std::string name, ShapeFunction shape);

}  // namespace troupe
