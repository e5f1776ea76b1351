// Transposes matrices on GPUs, tile by tile so that reads and writes both go to neighbouring addresses. Any thread.
#pragma once

#include <cstddef>

#include "devices/device.h"

namespace troupe::gpu {

/// Writes the transposes of `batch` matrices of `rows` rows and `columns` columns, one after the other. An element has 2, 4 or 8
/// bytes. The memory must not overlap.
Status transpose_matrices(DeviceContext& device, size_t element, size_t batch, size_t rows, size_t columns,
                          const void* from, void* to);

}  // namespace troupe::gpu
