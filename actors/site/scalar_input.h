// The value of an input of a service's node that must be a scalar. Pure function; any thread.
#pragma once

#include <string>
#include <string_view>

#include "kernels/core/slot.h"

namespace troupe {

/// Fails with InvalidArgument "n is float[2], but must be int32[]" for an input of another dtype or shape.
template <class T>
Result<T> scalar_input(const Slot& input, std::string_view name) {
  const Tensor& tensor = input.tensor;
  if (tensor.dtype() == dtype_of<T> && tensor.shape().is_scalar()) return tensor.as<T>()[0];
  return invalid_argument(std::string(name) + " is " + tensor.signature() + ", but must be " +
                          std::string(troupe::name(dtype_of<T>)) + "[]");
}

}  // namespace troupe
