// Coordinates of elements from their numbers. Pure functions; any thread.
#pragma once

#include "kernels/gpu/divider.h"

namespace troupe::gpu {

/// Replaces n by its quotient by the size of the last axis, and returns the remainder, the coordinate on that axis.
TROUPE_ANY inline size_t split(const Divider& size, size_t& n) {
  const size_t whole = size.quotient(n), rest = n - whole * size.divisor();
  n = whole;
  return rest;
}

}  // namespace troupe::gpu
