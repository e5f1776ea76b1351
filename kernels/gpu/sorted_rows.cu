#include "kernels/gpu/sorted_rows.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/gpu/cub_call.h"

#if defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>
#endif

namespace troupe::gpu {

Status sort_pairs(DeviceContext& device, size_t n, [[maybe_unused]] uint32_t greatest, const uint32_t* keys,
                  const uint32_t* values, uint32_t* sorted_keys, uint32_t* sorted_values) {
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue()) {
    const int bits = std::max(1, static_cast<int>(std::bit_width(greatest)));
    return call_cub(device, "sorting on a GPU", [&](void* memory, size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, values, sorted_values, n, 0,
                                             bits, static_cast<cudaStream_t>(queue->stream()));
    });
  }
#endif
  return on_host(device, [=] {
    std::vector<size_t> order(n);
    for (size_t i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
    for (size_t i = 0; i < n; ++i) {
      sorted_keys[i] = keys[order[i]];
      sorted_values[i] = values[order[i]];
    }
  });
}

}  // namespace troupe::gpu
