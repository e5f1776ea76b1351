// Runs a function object for every element, or for every row, of a tensor on a GPU. On a device without a GpuQueue (the
// DelayedDevice of the tests) the same functions run on the host, one call after the other. The functions must have no other
// effect than to write what belongs to their element or row, because they run in any order and at once. Function objects are
// copied to the GPU: they have pointers into device memory and plain values. Everything is issued to the stream of the device
// and the calls return at once. No float atomics: equal inputs give equal bits. Any thread may call these functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "devices/device.h"
#include "devices/gpu_queue.h"
#include "kernels/gpu/any.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace troupe::gpu {

// ---- Teams

#if defined(__CUDACC__)
namespace detail {

/// Returns shuffle(value), which moves numbers between the threads of a warp, also for a struct of a multiple of four bytes.
template <class T, class Shuffle>
__device__ T moved(T value, Shuffle shuffle) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(shuffle(value));
  } else {
    static_assert(sizeof(T) % 4 == 0);
    unsigned words[sizeof(T) / 4];
    memcpy(words, &value, sizeof(T));
    for (unsigned& word : words) word = shuffle(word);
    memcpy(&value, words, sizeof(T));
    return value;
  }
}
/// Returns the value of the thread that is `distance` further in the warp.
template <class T>
__device__ T shuffled(T value, int distance) {
  return moved(value, [=](auto x) { return __shfl_down_sync(0xffffffffu, x, distance); });
}
/// Returns the value of the first thread of the warp.
template <class T>
__device__ T of_first(T value) {
  return moved(value, [](auto x) { return __shfl_sync(0xffffffffu, x, 0); });
}

}  // namespace detail
#endif

/// The threads that compute one row together: thread `rank` of `size` takes elements rank, rank + size, and so on. On the host a
/// team is one thread. All threads of a team must call combine() and sync() together.
template <unsigned Threads>
struct Team {
  unsigned rank = 0;
  static constexpr unsigned size = Threads;

  /// Returns op of the values of all threads, in a fixed order, to every thread. `op` is associative and has no effect. T is a
  /// number, or a struct of a multiple of four bytes.
  template <class T, class Op>
  TROUPE_ANY T combine(T value, Op op) const {
#if defined(__CUDA_ARCH__)
    if constexpr (Threads > 1)
      for (int distance = 16; distance > 0; distance /= 2)
        value = op(value, detail::shuffled(value, distance));
    if constexpr (Threads == 1) {
      return value;
    } else if constexpr (Threads == 32) {
      return detail::of_first(value);
    } else {
      constexpr unsigned warps = Threads / 32;
      __shared__ alignas(T) unsigned char memory[sizeof(T) * (warps + 1)];
      T* const parts = reinterpret_cast<T*>(memory);
      if (rank % 32 == 0) parts[rank / 32] = value;
      __syncthreads();
      if (rank == 0) {
        T all = parts[0];
        for (unsigned i = 1; i < warps; ++i) all = op(all, parts[i]);
        parts[warps] = all;
      }
      __syncthreads();
      const T all = parts[warps];
      __syncthreads();
      return all;
    }
#else
    (void)op;
    return value;
#endif
  }
  template <class T>
  TROUPE_ANY T sum(T value) const {
    return combine(value, [] TROUPE_ANY(T a, T b) { return a + b; });
  }
  template <class T>
  TROUPE_ANY T max(T value) const {
    return combine(value, [] TROUPE_ANY(T a, T b) { return b > a || b != b ? b : a; });
  }
  /// Lets all threads see what each of them has written to device memory.
  TROUPE_ANY void sync() const {
#if defined(__CUDA_ARCH__)
    if constexpr (Threads == 32)
      __syncwarp();
    else
      __syncthreads();
#endif
  }
};
/// The team of the host.
using Alone = Team<1>;

// ---- Launches

#if defined(__CUDACC__)
namespace detail {

inline constexpr unsigned threads_per_block = 256;

template <class Body>
__global__ void __launch_bounds__(threads_per_block) run_each(size_t n, Body body) {
  const size_t stride = static_cast<size_t>(gridDim.x) * threads_per_block;
  for (size_t i = static_cast<size_t>(blockIdx.x) * threads_per_block + threadIdx.x; i < n; i += stride)
    body(i);
}

/// One warp for each row.
template <class Body>
__global__ void __launch_bounds__(threads_per_block) run_rows_by_warps(size_t rows, Body body) {
  constexpr unsigned warps = threads_per_block / 32;
  for (size_t row = static_cast<size_t>(blockIdx.x) * warps + threadIdx.x / 32; row < rows;
       row += static_cast<size_t>(gridDim.x) * warps)
    body(Team<32>{threadIdx.x % 32}, row);
}

/// One block for each row.
template <class Body>
__global__ void __launch_bounds__(threads_per_block) run_rows_by_blocks(size_t rows, Body body) {
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) body(Team<threads_per_block>{threadIdx.x}, row);
}

}  // namespace detail
#endif

/// Runs work where kernels run on the host: at once, or each time that what is being recorded is issued (devices/gpu_recorder.h).
/// So the work keeps whatever it needs, and uses the memory of its device only.
template <class Work>
Status on_host(DeviceContext& device, Work work) {
  if (GpuQueue* const queue = device.queue())
    queue->issue_on_host(std::move(work));
  else
    work();
  return {};
}

/// Calls body(i) for every i below n.
template <class Body>
Status each(DeviceContext& device, size_t n, const Body& body) {
  if (n == 0) return {};
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue()) {
    const size_t blocks = (n + detail::threads_per_block - 1) / detail::threads_per_block;
    const auto grid = static_cast<unsigned>(std::min<size_t>(blocks, queue->max_blocks()));
    detail::run_each<<<grid, detail::threads_per_block, 0, static_cast<cudaStream_t>(queue->stream())>>>(
        n, body);
    return queue->launched();
  }
#endif
  return on_host(device, [n, body] {
    for (size_t i = 0; i < n; ++i) body(i);
  });
}

/// Calls body(team, row) for every row below `rows`, on every thread of a team. `body` is a function object whose operator() is a
/// template over the Team. `width` is the number of elements of a row, by which the size of the teams is chosen.
template <class Body>
Status each_row(DeviceContext& device, size_t rows, [[maybe_unused]] size_t width, const Body& body) {
  if (rows == 0) return {};
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue()) {
    const auto stream = static_cast<cudaStream_t>(queue->stream());
    constexpr size_t wide = 1024;
    if (width >= wide) {
      const auto grid = static_cast<unsigned>(std::min<size_t>(rows, queue->max_blocks()));
      detail::run_rows_by_blocks<<<grid, detail::threads_per_block, 0, stream>>>(rows, body);
    } else {
      const size_t blocks = (rows + detail::threads_per_block / 32 - 1) / (detail::threads_per_block / 32);
      const auto grid = static_cast<unsigned>(std::min<size_t>(blocks, queue->max_blocks()));
      detail::run_rows_by_warps<<<grid, detail::threads_per_block, 0, stream>>>(rows, body);
    }
    return queue->launched();
  }
#endif
  return on_host(device, [rows, body] {
    for (size_t row = 0; row < rows; ++row) body(Alone{}, row);
  });
}

/// Returns memory for the work that is issued next. It may be released as soon as that work has been issued.
inline Result<BufferRef> scratch(DeviceContext& device, size_t bytes) {
  return device.memory().allocate(bytes);
}

// ---- Wrong values

/// A wrong value that a kernel has found, such as an index out of range. The first one of a step counts. The step
/// fails with it when it copies something to the host next; on the host check_fault() does so.
struct FaultReport {
  GpuFault* fault;
  const GpuFaultSource* source;
  TROUPE_ANY void operator()(int64_t value, int64_t limit) const {
#if defined(__CUDA_ARCH__)
    if (atomicCAS(&fault->state, GpuFault::Clear, GpuFault::Written) != GpuFault::Clear) return;
#else
    if (fault->state != GpuFault::Clear) return;
#endif
    fault->value = value;
    fault->limit = limit;
    fault->source = source;
#if defined(__CUDA_ARCH__)
    __threadfence_system();  // the host sees the members before the state
    atomicExch(&fault->state, GpuFault::Complete);
#else
    fault->state = GpuFault::Complete;
#endif
  }
};
/// Returns what the kernel of a node calls when it finds a wrong value: `text` is like "index {} is not in [0, {})".
inline FaultReport fault_report(DeviceContext& device, const char* text) {
  return {device.queue() ? &fault_place(*device.queue()) : &host_fault(), fault_source(text)};
}
/// Returns the failure that a kernel which ran on the host has reported, once.
inline Status check_fault(DeviceContext& device) {
  return device.queue() ? Status() : take_fault(host_fault());
}

}  // namespace troupe::gpu
