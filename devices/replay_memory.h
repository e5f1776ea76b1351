// ReplayMemory: an allocator for steps that are alike: while nothing of it is in use, the same calls in the same order give the
// same addresses as before. It notes what one kernel allocates and releases, so that this can be done again without the kernel. It
// takes its memory in large blocks from another allocator and keeps them. Used for the tensors of a step on a GPU whose work is
// recorded (kernels/runtime/recorded_kernels.h). One thread allocates and takes notes; any thread may release. Buffers may outlive
// it. Units: bytes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "messages/values/buffer.h"

namespace troupe {

class ReplayMemory final : public Allocator {
 public:
  /// One allocation, or the release of an earlier one.
  struct Event {
    uint32_t allocation = 0;  ///< its number, from 0
    bool releases = false;
    size_t bytes = 0;                 ///< of an allocation: as requested
    const std::byte* data = nullptr;  ///< of an allocation: the address that it got
  };

  /// `memory` must outlive all buffers.
  explicit ReplayMemory(Allocator& memory);
  ~ReplayMemory() override;
  /// Gives `memory` back what it has given to those that are empty. Returns whether there was anything. For `memory` to call when
  /// it has no more; any thread may call it.
  static bool release_idle(const Allocator& memory);

  /// Fails as the other allocator does.
  Result<BufferRef> allocate(size_t bytes) override;
  /// Returns whether no buffer is in use.
  bool empty() const;
  bool owns(const Buffer& buffer) const;

  /// Notes what is allocated, and which of it is released, until end_notes() returns it.
  void begin_notes();
  std::vector<Event> end_notes();
  /// Does what was noted. `buffers` receives the buffer of each allocation, empty where the notes release it. Returns false if an
  /// address differs or there is no memory; then nothing remains allocated.
  bool replay(std::span<const Event> events, std::vector<BufferRef>& buffers);

 private:
  class Core;
  struct All;
  std::shared_ptr<Core> core_;
};

}  // namespace troupe
