// Fills and copies device memory. The calls issue their work to the stream of the device and return at once; on a device without a
// GpuQueue they work on the host. Any thread may call them.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/gpu/launch.h"

namespace troupe::gpu {

#if defined(__CUDACC__)
namespace detail {

inline Status status_of(cudaError_t error) {
  return error == cudaSuccess ? Status() : internal(std::string("CUDA: ") + cudaGetErrorString(error));
}
inline cudaStream_t stream_of(GpuQueue& queue) { return static_cast<cudaStream_t>(queue.stream()); }

}  // namespace detail
#endif

/// Makes all bytes 0.
inline Status clear(DeviceContext& device, void* to, size_t bytes) {
  if (bytes == 0) return {};
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue())
    return detail::status_of(cudaMemsetAsync(to, 0, bytes, detail::stream_of(*queue)));
#endif
  return on_host(device, [=] { std::memset(to, 0, bytes); });
}

/// Makes all elements of a tensor 0.
inline Status clear(DeviceContext& device, Tensor& tensor) {
  return clear(device, tensor.mutable_data(), tensor.bytes());
}

/// Copies bytes that do not overlap, or does nothing if they are the same.
inline Status copy(DeviceContext& device, const void* from, void* to, size_t bytes) {
  if (bytes == 0 || from == to) return {};
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue())
    return detail::status_of(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, detail::stream_of(*queue)));
#endif
  return on_host(device, [=] { std::memcpy(to, from, bytes); });
}

/// Returns a copy of values of the host in device memory, for the work that is issued next. The values may be released when the
/// call returns: CUDA copies pageable memory to a buffer of its own first, and recorded work keeps a copy.
template <class T>
Result<BufferRef> uploaded(DeviceContext& device, std::span<const T> values) {
  TROUPE_ASSIGN(BufferRef memory, scratch(device, values.size_bytes()));
  if (values.empty()) return memory;
  std::byte* const to = memory->data;
  const size_t bytes = values.size_bytes();
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue()) {
    const void* const from = queue->kept(values.data(), bytes);
    if (!from) return resource_exhausted("pinned memory for " + std::to_string(bytes) + " bytes");
    TROUPE_RETURN_IF_FAILED(detail::status_of(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, detail::stream_of(*queue))));
    return memory;
  }
#endif
  TROUPE_RETURN_IF_FAILED(on_host(device, [to, bytes, kept = std::vector<T>(values.begin(), values.end())] {
    std::memcpy(to, kept.data(), bytes);
  }));
  return memory;
}

}  // namespace troupe::gpu
