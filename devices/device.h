// Device: the interface to what holds tensors and runs kernels. CPUs, GPUs and the DelayedDevice of the tests implement it. Owned
// by the runtime that made it; any thread may call every function. A device may execute work after run() or copy() has returned,
// but in the order in which it was issued; Completions say when. Code that touches bytes on the host waits for them. Units: bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "devices/memory_statistics.h"
#include "devices/pool.h"
#include "messages/values/buffer.h"
#include "messages/values/completion.h"
#include "messages/values/device_name.h"
#include "messages/values/tensor.h"

namespace troupe {

class GpuQueue;

/// What a device provides to its kernels.
class DeviceContext {
 public:
  DeviceContext(Allocator& memory, Allocator& host_memory, Pool& pool, GpuQueue* queue = nullptr)
      : memory_(memory), host_memory_(host_memory), pool_(pool), queue_(queue) {}
  /// For a device that computes in host memory.
  DeviceContext(Allocator& memory, Pool& pool) : DeviceContext(memory, memory, pool) {}

  Allocator& memory() const { return memory_; }
  /// Returns the allocator for arguments that kernels need on the host
  /// (shapes, predicates) and for staging. On a CPU it is memory().
  Allocator& host_memory() const { return host_memory_; }
  Pool& pool() const { return pool_; }
  /// Returns what kernels of a GPU issue their work to (devices/gpu_queue.h); null where kernels run on the host.
  GpuQueue* queue() const { return queue_; }

 private:
  Allocator& memory_;
  Allocator& host_memory_;
  Pool& pool_;
  GpuQueue* queue_;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceName& name() const = 0;  ///< the full name
  virtual std::string_view type() const = 0;   ///< the type that kernels are registered for: "CPU", "GPU"
  /// Returns a random number that distinguishes this device object from others of its name, such as that of an earlier process.
  virtual uint64_t incarnation() const = 0;
  /// Returns where context().memory() lies. If that is MemoryKind::Device, `ordinal` is the value of Buffer::device.
  virtual MemoryKind memory_kind() const = 0;
  virtual uint16_t ordinal() const = 0;
  virtual MemoryStatistics memory_statistics() const = 0;
  virtual DeviceContext& context() = 0;

  /// Returns true if everything issued later sees what kernels compute, so that the caller may run kernels itself, one after the
  /// other, without waiting for a Completion. Either kernels have ended when they return, as on a CPU, or all of them issue their
  /// work to one stream.
  virtual bool in_order() const = 0;
  /// Runs `work` after everything issued before it; if in_order(), on the calling thread, before it returns. The Completion gets
  /// the status that `work` returns.
  virtual Completion run(std::function<Status(DeviceContext&)> work) = 0;

  /// Copies the bytes of `from` to `to`. One of the two lies in this device's memory, the other there or
  /// on the host. The copy begins when from.completion() is ready, and fails if that failed. Both tensors
  /// are kept alive until it has ended. The returned Completion has failed already if check_copy() fails.
  virtual Completion copy(const Tensor& from, Tensor& to) = 0;

  /// Returns true if the device can compute with the tensor where it lies, so that no copy is needed.
  bool holds(const Tensor& tensor) const {
    if (tensor.memory() != MemoryKind::Device) return memory_kind() != MemoryKind::Device;
    return memory_kind() == MemoryKind::Device && tensor.buffer()->device == ordinal();
  }
};

/// Checks the arguments of copy(). Fails with InvalidArgument unless dtypes and shapes are equal
/// and no layout is opaque, or for strings on a device whose memory is not the host's
/// ("Non-DMA-safe", features.md A3); with Internal if the device reaches one of the memories not.
Status check_copy(const Device& device, const Tensor& from, const Tensor& to);

}  // namespace troupe
