// The memory of emulated GPUs: memory of the host that can be reached only while a GpuWork exists. Host code that reads or writes a
// tensor of a GPU crashes, as it would with a real one, unless some GPU computes at the same time. Any thread. Units: bytes.
#pragma once

#include <memory>

#include "devices/gpu_sharing.h"
#include "devices/memory_statistics.h"
#include "devices/shared_arenas.h"

namespace troupe {

/// Emulated GPUs reach all memory of GPUs while such an object exists.
class GpuWork {
 public:
  GpuWork();
  ~GpuWork();
  GpuWork(const GpuWork&) = delete;
  GpuWork& operator=(const GpuWork&) = delete;
};

/// Buffers may outlive the allocator.
class EmulatedMemory final : public Allocator {
 public:
  /// `ordinal` is the value of Buffer::device. Other processes may map the memory if `shared`, which may be null, is set; they get
  /// it in parts of 4 MiB.
  EmulatedMemory(uint16_t ordinal, uint64_t cap, std::shared_ptr<SharedArenas> shared);
  ~EmulatedMemory() override;

  Result<BufferRef> allocate(size_t bytes) override;
  MemoryStatistics statistics() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace troupe
