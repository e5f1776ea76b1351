// Numbers, whatever their type. Pure functions; any thread.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::data {

/// Returns the elements as doubles; booleans are 0 and 1. Fails with InvalidArgument for types that are not real numbers, and with
/// ResourceExhausted if there is too little memory.
Result<std::vector<double>> numbers_of(const Tensor& tensor);

/// Returns a floating number as an integer of type T; nothing if it has a fraction, or T is too narrow for it.
template <class T, class Floating>
std::optional<T> whole_number(Floating number) {
  static_assert(std::is_signed_v<T>);
  // The least number is a power of two, which is exact in all floating types.
  constexpr auto least = static_cast<Floating>(std::numeric_limits<T>::min());
  if (std::trunc(number) != number || number < least || number >= -least) return {};
  return static_cast<T>(number);
}

/// Returns a number as one of the floating type T, rounded; nothing if it is finite, but too large for the type.
template <class T>
std::optional<T> rounded_number(double number) {
  if (std::isfinite(number) && std::abs(number) > static_cast<double>(std::numeric_limits<T>::max()))
    return {};
  return static_cast<T>(number);
}

}  // namespace troupe::data
