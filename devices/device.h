// Device: something that holds tensors and runs kernels: the interface that CPUs, GPUs and the tests'
// DelayedDevice share. Owned by the runtime that made it. Every function may be called from any thread; what
// is issued happens in the order it was issued, possibly later: Completions tell when, and whoever touches
// bytes on the host waits for them. Units: bytes.
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

/// What a kernel gets of its device.
class DeviceContext {
 public:
  DeviceContext(Allocator& memory, Allocator& host_memory, Pool& pool, void* stream = nullptr)
      : memory_(memory), host_memory_(host_memory), pool_(pool), stream_(stream) {}
  /// Of a device that computes in host memory.
  DeviceContext(Allocator& memory, Pool& pool) : DeviceContext(memory, memory, pool) {}

  Allocator& memory() const { return memory_; }
  /// For arguments that kernels keep on the host (shapes, predicates) and for staging; memory() on a CPU.
  Allocator& host_memory() const { return host_memory_; }
  Pool& pool() const { return pool_; }
  /// The queue of the device's own API (cudaStream_t); null on a CPU.
  void* stream() const { return stream_; }

 private:
  Allocator& memory_;
  Allocator& host_memory_;
  Pool& pool_;
  void* stream_;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceName& name() const = 0;  ///< fully specified
  virtual std::string_view type() const = 0;   ///< whose kernels run here: "CPU", "GPU"
  /// Random per device object: tells a restarted device from the one before it.
  virtual uint64_t incarnation() const = 0;
  /// Where context().memory() lies; for MemoryKind::Device, `ordinal` is Buffer::device.
  virtual MemoryKind memory_kind() const = 0;
  virtual uint16_t ordinal() const = 0;
  virtual MemoryStatistics memory_statistics() const = 0;
  virtual DeviceContext& context() = 0;

  /// True when run() is over as soon as it returns, so that a kernel may as well be called directly.
  virtual bool synchronous() const = 0;
  /// Runs `work` after everything issued before; a synchronous device runs it at once, on the caller. The
  /// Completion has its status.
  virtual Completion run(std::function<Status(DeviceContext&)> work) = 0;

  /// Copies the bytes of `from` into `to`, which has the same dtype and shape; one of them lies in this
  /// device's memory, the other there or on the host. Begins when from.completion() is ready, and fails as it
  /// did; both are kept alive until done. Fails at once as check_copy() says.
  virtual Completion copy(const Tensor& from, Tensor& to) = 0;

  /// True when the bytes lie where this device computes, so that it needs no copy.
  bool holds(const Tensor& tensor) const {
    if (tensor.memory() != MemoryKind::Device) return memory_kind() != MemoryKind::Device;
    return memory_kind() == MemoryKind::Device && tensor.buffer()->device == ordinal();
  }
};

/// What every copy() demands of its arguments: equal dtype and shape, no opaque layout, memory that the
/// device reaches, and no strings on a device whose memory is not the host's ("Non-DMA-safe", features.md
/// A3).
Status check_copy(const Device& device, const Tensor& from, const Tensor& to);

}  // namespace troupe
