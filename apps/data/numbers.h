// Numbers, whatever their type. Pure functions; any thread.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::data {

/// Returns the elements as doubles; booleans are 0 and 1. Fails with InvalidArgument for types that are not real numbers, and with
/// ResourceExhausted if there is too little memory.
Result<std::vector<double>> numbers_of(const Tensor& tensor);

/// Returns a floating number as an integer of type T; nothing if it has a fraction, or T is too narrow for it.
template <class T, class Floating>
std::optional<T> whole_number(Floating number) {
  constexpr auto half_the_limit = static_cast<Floating>(std::numeric_limits<T>::max() / 2 + 1);
  constexpr Floating limit = 2 * half_the_limit;  // a power of two, which is exact in all floating types
  if (std::trunc(number) != number || number < -limit || number >= limit) return {};
  return static_cast<T>(number);
}

}  // namespace troupe::data
