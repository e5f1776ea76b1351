// Quantised tensors as the integers that store them. Free functions; any thread may call them.
#pragma once

#include "devices/device.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Returns the dtype of the integers that store a quantised dtype, and any other dtype as it is.
DType storage_of(DType dtype);
/// Returns a tensor of the integers that store a quantised one, in the same memory.
Tensor storage_view(const Tensor& tensor);

/// Returns the distances of the steps of a quint8 tensor from `zero`, as int32 in new memory. They wrap around.
Result<Tensor> distances_from(DeviceContext& device, const Tensor& steps, int32_t zero);

}  // namespace troupe
