// Units of up to sixteen bytes, in which kernels of GPUs move elements: one kernel for each size serves all types. Pure functions.
#pragma once

#include "kernels/gpu/map.h"

namespace troupe::gpu {

/// Returns f(std::type_identity<T>{}), a Status, for a type T of 1, 2, 4, 8 or 16 bytes.
template <class F>
Status with_unit(size_t bytes, const F& f) {
  switch (bytes) {
    case 1: return f(std::type_identity<uint8_t>{});
    case 2: return f(std::type_identity<uint16_t>{});
    case 4: return f(std::type_identity<uint32_t>{});
    case 8: return f(std::type_identity<uint64_t>{});
    default: return f(std::type_identity<Pack<uint64_t, 2>>{});
  }
}

/// Returns the size of the units in which rows of `row` elements of `element` bytes, one behind the other, are moved best.
inline size_t unit_of_rows(size_t element, size_t row, const std::byte* from, const std::byte* to) {
  size_t unit = element;
  for (; unit < 16 && row % 2 == 0 && is_aligned(from, 2 * unit) && is_aligned(to, 2 * unit); row /= 2)
    unit *= 2;
  return unit;
}

}  // namespace troupe::gpu
