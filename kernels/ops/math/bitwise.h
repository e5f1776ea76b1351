// Integers as rows of bits: what ops do with one or two elements, on every type of device (bitwise.cpp). Pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/gpu/any.h"

namespace troupe {

struct BitwiseAnd {
  template <class T>
  TROUPE_ANY static T apply(T x, T y) {
    return static_cast<T>(x & y);
  }
};
struct BitwiseOr {
  template <class T>
  TROUPE_ANY static T apply(T x, T y) {
    return static_cast<T>(x | y);
  }
};
struct BitwiseXor {
  template <class T>
  TROUPE_ANY static T apply(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};
struct Invert {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return static_cast<T>(~x);
  }
};

/// Returns the number of bits as one by which T can be shifted.
template <class T>
TROUPE_ANY T valid_shift(T bits) {
  return std::clamp(bits, T{0}, static_cast<T>(8 * sizeof(T) - 1));
}
struct LeftShift {
  template <class T>
  TROUPE_ANY static T apply(T x, T y) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << valid_shift(y));
  }
};
struct RightShift {
  template <class T>
  TROUPE_ANY static T apply(T x, T y) {
    return static_cast<T>(x >> valid_shift(y));
  }
};
struct PopulationCount {
  template <class T>
  TROUPE_ANY static uint8_t apply(T x) {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

}  // namespace troupe
