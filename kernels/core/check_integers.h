// Checks for integers that an op cannot compute with. Pure functions; any thread may call them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Fails with InvalidArgument "WHAT at NAME[3] of int32[5]" if `bad` holds for an element of an integer tensor. The error names
/// the first such element. Tensors of other types pass.
template <class Bad>
Status check_integers(const Tensor& tensor, std::string_view name, std::string_view what, Bad bad) {
  Status status;
  with_type(IntegerTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = tensor.as<T>();
    const auto found = std::find_if(values.begin(), values.end(), bad);
    if (found != values.end())
      status = invalid_argument(std::string(what) + " at " +
                                element_name(name, tensor.shape(), found - values.begin()) + " of " +
                                tensor.signature());
  });
  return status;
}

/// Fails with InvalidArgument if an element of an integer tensor is 0.
inline Status check_divisors(const Tensor& tensor, std::string_view name) {
  return check_integers(tensor, name, "integer division by zero", [](auto value) { return value == 0; });
}

}  // namespace troupe
