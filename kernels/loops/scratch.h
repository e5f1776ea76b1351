// Memory that a computation needs while it runs, and drops at its end. Any thread may call the function.
#pragma once

#include <array>

#include "devices/device.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Returns a vector of `count` elements that are not initialised, in the host's memory. Fails with ResourceExhausted.
template <class T>
Result<Tensor> scratch_vector(DeviceContext& device, int64_t count) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{count}, dtype_of<T>));
  return Tensor::allocate(dtype_of<T>, shape, device.host_memory());
}

}  // namespace troupe
