// Device: something that holds tensors and runs kernels: the interface that CPUs, GPUs and the tests'
// DelayedDevice share. Owned by the runtime that made it. run() and copy() are called by any thread, and what
// one thread issues happens in its order; the work may happen later: Completions tell when, and whoever
// touches bytes on the host waits for them. Units: bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "devices/pool.h"
#include "messages/buffer.h"
#include "messages/completion.h"
#include "messages/device_name.h"
#include "messages/tensor.h"

namespace troupe {

/// What a kernel gets of its device.
class DeviceContext {
 public:
  DeviceContext(Allocator& memory, Pool& pool, void* stream = nullptr)
      : memory_(memory), pool_(pool), stream_(stream) {}

  Allocator& memory() const { return memory_; }
  Pool& pool() const { return pool_; }
  /// The queue of the device's own API (cudaStream_t); null on a CPU.
  void* stream() const { return stream_; }

 private:
  Allocator& memory_;
  Pool& pool_;
  void* stream_;
};

struct MemoryStatistics {
  size_t in_use = 0;         ///< held by buffers now
  size_t peak = 0;           ///< the most that was in use at once
  size_t reserved = 0;       ///< taken from the system
  size_t cap = 0;            ///< what `reserved` may grow to
  uint64_t allocations = 0;  ///< since the device was made
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceName& name() const = 0;  ///< "/job:worker/replica:0/task:0/device:CPU:0"
  virtual std::string_view type() const = 0;   ///< whose kernels run here: "CPU", "GPU"
  /// Random per device object: tells a restarted device from the one before it.
  virtual uint64_t incarnation() const = 0;
  /// Where context().memory() lies; for Device memory, `ordinal` is Buffer::device.
  virtual MemoryKind memory_kind() const = 0;
  virtual uint16_t ordinal() const = 0;
  virtual MemoryStatistics memory_statistics() const = 0;
  virtual DeviceContext& context() = 0;

  /// Runs `work` after everything issued before; a CPU runs it at once, on the caller. The Completion has its
  /// status.
  virtual Completion run(std::function<Status(DeviceContext&)> work) = 0;

  /// Copies the bytes of `from` into `to`, which has the same dtype and shape; one of them lies in this
  /// device's memory, the other there or on the host. Begins when from.completion() is ready, and fails as it
  /// did. Both stay alive until done. InvalidArgument for a string tensor on a device whose memory is not the
  /// host's.
  virtual Completion copy(const Tensor& from, Tensor& to) = 0;
};

}  // namespace troupe
