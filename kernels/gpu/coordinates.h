// Coordinates of elements from their numbers. Pure functions; any thread.
#pragma once

#include "kernels/gpu/divider.h"

namespace troupe::gpu {

/// Returns what divides by a dimension.
inline Divider divider(int64_t dimension) { return Divider(static_cast<size_t>(dimension)); }

/// Replaces n by its quotient by the size of the last axis, and returns the remainder, the coordinate on that axis.
TROUPE_ANY inline size_t split(const Divider& size, size_t& n) {
  const size_t whole = size.quotient(n), rest = n - whole * size.divisor();
  n = whole;
  return rest;
}

/// An axis of a tensor, for a walk over its elements.
struct ElementAxis {
  Divider step, size;  ///< how far neighbours on the axis are apart in memory, and how many there are

  ElementAxis() = default;
  ElementAxis(size_t distance, size_t count) : step(distance), size(count) {}
  /// Returns the coordinate of element i on the axis.
  TROUPE_ANY size_t index_of(size_t i) const {
    const size_t at = step.quotient(i);
    return at - size.quotient(at) * size.divisor();
  }
};

}  // namespace troupe::gpu
