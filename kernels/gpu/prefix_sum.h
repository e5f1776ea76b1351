// Prefix sums on GPUs. Any thread may call these functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "devices/device.h"

namespace troupe::gpu {

/// Replaces each of n counts in device memory by the sum of it and all counts before it.
Status prefix_sum(DeviceContext& device, size_t n, int64_t* counts);

}  // namespace troupe::gpu
