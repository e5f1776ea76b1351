// Arena: one contiguous range of host memory. It reserves all its addresses at first, and commits memory from the front as
// needed. It never decommits, because memory that is touched for the first time runs at a tenth of the speed. It asks for
// huge pages, and uses a memfd if other processes are to map it. Owned by an allocator, whose lock guards it. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "devices/shared_arenas.h"
#include "messages/values/status.h"

namespace troupe {

class Arena {
 public:
  struct Options {
    uint64_t cap = 0;  ///< the limit of committed memory; 0: usable_memory() of memory_budget.h
    /// If set, other processes can map the arena by descriptor(), and the arena enters itself here.
    std::shared_ptr<SharedArenas> shared = {};
  };
  static constexpr uint64_t granule = uint64_t{2} << 20;  ///< the unit of commits: a huge page

  explicit Arena(Options options);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns the value of Buffer::arena: 0 if the arena is not shared, or nothing was committed yet.
  uint32_t id() const { return id_; }
  /// Returns whether other processes may read the arena, so that its pages must not be discarded.
  bool was_lent() const { return shared_ && shared_->was_lent(id_); }
  uint64_t cap() const { return cap_; }
  uint64_t committed() const { return committed_; }
  /// Returns the first byte, aligned to `granule`, or null before the first commit.
  std::byte* data() const { return data_; }
  /// Returns the memfd, whose offsets are those of the arena, or -1 if it is not shared or nothing was committed yet.
  int descriptor() const { return descriptor_; }

  /// Returns how much more memory commit(bytes) would take from the system.
  uint64_t growth(uint64_t bytes) const {
    return bytes <= committed_ ? 0 : (bytes + granule - 1) / granule * granule - committed_;
  }
  /// Makes the first `bytes` bytes, rounded up to `granule`, usable. Fails
  /// with ResourceExhausted beyond cap(), or if the system has no more memory.
  Status commit(uint64_t bytes);
  /// Returns the whole pages of a range to the system. They read as zero afterwards. Returns the number of their bytes.
  uint64_t discard(uint64_t offset, uint64_t bytes);

 private:
  Status reserve();
  void unmap();

  const std::shared_ptr<SharedArenas> shared_;
  uint32_t id_ = 0;
  uint64_t cap_;
  uint64_t committed_ = 0;
  std::byte* data_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace troupe
