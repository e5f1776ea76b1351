#include "kernels/gpu/prefix_sum.h"

#include <numeric>

#include "kernels/gpu/cub_call.h"

#if defined(__CUDACC__)
#include <cub/device/device_scan.cuh>
#endif

namespace troupe::gpu {

Status prefix_sum(DeviceContext& device, size_t n, int64_t* counts) {
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue())
    return call_cub(device, "a prefix sum on a GPU", [&](void* memory, size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(memory, bytes, counts, counts, n,
                                           static_cast<cudaStream_t>(queue->stream()));
    });
#endif
  return on_host(device, [=] { std::partial_sum(counts, counts + n, counts); });
}

}  // namespace troupe::gpu
