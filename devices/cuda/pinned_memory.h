// PinnedMemory: allocates host memory that a GPU copies from and to while the host goes on. It takes memory from the system in
// slabs, which other processes may map, and keeps them. Any thread may allocate and release. Buffers may outlive it. Units: bytes.
#pragma once

#include <memory>

#include "devices/shared_arenas.h"
#include "messages/values/buffer.h"

namespace troupe {

class PinnedMemory final : public Allocator {
 public:
  /// Other processes may map the memory if `shared`, which may be null, is set.
  explicit PinnedMemory(std::shared_ptr<SharedArenas> shared);
  ~PinnedMemory() override;
  /// Fails with ResourceExhausted if the system has no more memory that can be pinned.
  Result<BufferRef> allocate(size_t bytes) override;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace troupe
