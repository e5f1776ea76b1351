// Arithmetic on single elements that is defined for every input: integers wrap around. Functors for the loops of elementwise.h.
#pragma once

#include <cstdint>
#include <type_traits>

namespace troupe {

/// Integer arithmetic is done in this: unsigned, and at least 32 bits wide, so that no promotion makes it signed again.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

struct Add {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return a + b;
  }
};

struct Sub {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    else
      return a - b;
  }
};

struct Mul {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return a * b;
  }
};

}  // namespace troupe
