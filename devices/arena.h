// Arena: one contiguous range of host memory, addresses reserved whole, memory committed from the front on
// demand and never given back while the arena lives: memory touched for the first time runs at a tenth of the
// speed. Asks for huge pages; backed by a memfd when other processes are to map it. Owned by an allocator,
// whose lock guards it. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/values/status.h"

namespace troupe {

class Arena {
 public:
  struct Options {
    uint64_t cap = 0;  ///< the most that may be committed; 0: usable_memory(), of memory_budget.h
    uint32_t id = 0;   ///< Buffer::arena. Not 0: other processes can map it by descriptor()
  };
  static constexpr uint64_t granule = uint64_t{2} << 20;  ///< commits are multiples of this: a huge page

  explicit Arena(Options options);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  uint32_t id() const { return id_; }
  uint64_t cap() const { return cap_; }
  uint64_t committed() const { return committed_; }
  /// The first byte; null before the first commit. Aligned to `granule`.
  std::byte* data() const { return data_; }
  /// The memfd, whose offsets are those of the arena; -1 when id() is 0 or before the first commit.
  int descriptor() const { return descriptor_; }

  /// How much more commit() would take from the system.
  uint64_t growth(uint64_t bytes) const {
    return bytes <= committed_ ? 0 : (bytes + granule - 1) / granule * granule - committed_;
  }
  /// Makes the first `bytes`, rounded up to `granule`, usable. ResourceExhausted past cap() or when the
  /// system gives no more.
  Status commit(uint64_t bytes);
  /// The contents of this range are needed no more: its whole pages go back to the system and read as zero
  /// from now on. Their bytes.
  uint64_t discard(uint64_t offset, uint64_t bytes);

 private:
  Status reserve();
  void unmap();

  uint32_t id_;
  uint64_t cap_;
  uint64_t committed_ = 0;
  std::byte* data_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace troupe
