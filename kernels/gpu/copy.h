// Copies and fills on GPUs, for ops that move elements and compute nothing. Elements are moved in units of up to sixteen bytes. Any
// thread may call these functions.
#pragma once

#include "devices/device.h"
#include "kernels/loops/strided_copy.h"

namespace troupe::gpu {

/// Copies a box of elements of a tensor to a box of another one of the same dtype, which it does not overlap. Fails with
/// Unimplemented if the box has too many axes (kernels/gpu/strides.h).
Status copy_box(DeviceContext& device, const BoxCopy& box, const Tensor& from, Tensor& to);

/// Copies all elements to a tensor with as many elements of the same dtype.
Status copy_all(DeviceContext& device, const Tensor& from, Tensor& to);

/// Sets every element to a scalar of the same dtype, in the memory of the device.
Status fill_from(DeviceContext& device, const Tensor& value, Tensor& to);
/// Sets every element to a scalar in host memory; if null, to zero.
Status fill_with(DeviceContext& device, const Tensor* value, Tensor& to);

}  // namespace troupe::gpu
