// Tensors whose rows are copies of rows that the host has chosen, on GPUs. Any thread may call the function.
#pragma once

#include <span>

#include "devices/device.h"

namespace troupe::gpu {

/// Copies the row of `row` elements at sources[i], or zeros if that is null, to row i of a tensor. The sources do not overlap it.
Status copy_rows(DeviceContext& device, std::span<const std::byte* const> sources, size_t row, Tensor& to);

}  // namespace troupe::gpu
