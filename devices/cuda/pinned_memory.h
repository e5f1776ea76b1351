// PinnedMemory: allocates host memory that a GPU copies from and to while the host goes on. It takes memory from the system in
// slabs and keeps them. Any thread may allocate and release. Buffers may outlive it. Units: bytes.
#pragma once

#include <memory>

#include "messages/values/buffer.h"

namespace troupe {

class PinnedMemory final : public Allocator {
 public:
  PinnedMemory();
  ~PinnedMemory() override;
  /// Fails with ResourceExhausted if the system has no more memory that can be pinned.
  Result<BufferRef> allocate(size_t bytes) override;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace troupe
