// GpuMemory: allocates the buffers of one GPU from one range of addresses, to which it maps memory as needed. Memory that is
// released is reused at once, although kernels that were issued before may still use it: everything that reads or writes it is
// issued to one stream, later than they. Any thread may allocate and release. Buffers may outlive it. Units: bytes.
#pragma once

#include <memory>

#include "devices/gpus.h"
#include "devices/memory_statistics.h"
#include "messages/values/buffer.h"

namespace troupe {

class GpuMemory final : public Allocator {
 public:
  /// `ordinal` is the value of Buffer::device. Those of the GPUs `options.peers` that can reach the memory may copy from it, and,
  /// if the driver can share it and `options.shared` is set, so may GPUs of other processes. Fails with Unavailable or
  /// ResourceExhausted if the addresses cannot be reserved.
  static Result<std::unique_ptr<GpuMemory>> make(uint16_t ordinal, uint64_t cap, const GpuOptions& options);
  ~GpuMemory() override;

  /// Fails with ResourceExhausted, naming the size, the cap, and how much is in use.
  Result<BufferRef> allocate(size_t bytes) override;
  MemoryStatistics statistics() const;

 private:
  class Core;
  explicit GpuMemory(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  std::shared_ptr<Core> core_;
};

}  // namespace troupe
