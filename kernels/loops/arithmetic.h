// Arithmetic on single elements, as functors for the loops of elementwise.h. Integers wrap around. Pure functions; any thread
// may call them.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace troupe {

/// The type in which arithmetic on an integer type T is done: unsigned and at least 32 bits wide, so that no promotion makes it
/// signed.
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

/// Integers truncate towards zero. The divisor of an integer must not be 0; the least integer divided by -1 is itself.
struct Div {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return b == -1 ? Sub::apply(T{0}, a) : static_cast<T>(a / b);
    else
      return static_cast<T>(a / b);
  }
};

/// NaN if either is NaN.
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || std::isnan(b) ? b : a;
    else
      return a < b ? b : a;
  }
};

/// NaN if either is NaN.
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return b < a || std::isnan(b) ? b : a;
    else
      return b < a ? b : a;
  }
};

}  // namespace troupe
