// RangeAllocator: allocates ranges of [0, size) by best fit with coalescing, in constant time. It keeps its records outside
// the memory that it describes, so it also serves memory that the host cannot touch. Not thread-safe: its owner locks.
// Units: bytes; all sizes are multiples of 64. Bins as in Masmano et al., "TLSF: a new dynamic memory allocator", 2004.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

namespace troupe {

class RangeAllocator {
 public:
  struct Range {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool free = false;
    Range *before = nullptr, *after = nullptr;   ///< the neighbours in the order of offsets
    Range *previous = nullptr, *next = nullptr;  ///< the neighbours in the list of a bin, while free
    /// How many of its bytes the owner has returned to the system. Kept up to date when ranges are cut and joined.
    uint64_t returned = 0;
  };
  static constexpr uint64_t alignment = 64;

  /// Returns a range of at least `bytes`, or null if no free range is so large. It is valid until released.
  Range* allocate(uint64_t bytes);
  /// Frees a range and joins it with its free neighbours.
  void release(Range* range);
  /// Adds `bytes` at the end of the memory.
  void grow(uint64_t bytes);

  uint64_t size() const { return size_; }
  /// Returns the bytes of the free range that ends at size(); 0 if there is none.
  uint64_t free_at_end() const { return last_ && last_->free ? last_->bytes : 0; }
  uint64_t largest_free() const;
  /// Returns the range with the lowest offset.
  Range* first() const { return first_; }

 private:
  static constexpr unsigned bins_per_doubling = 8;
  static constexpr unsigned bins = 58 * bins_per_doubling;
  static unsigned bin_of(uint64_t bytes);

  Range* best_in(unsigned bin, uint64_t bytes) const;
  unsigned next_bin(unsigned bin) const;
  void enter_bin(Range* range);
  void leave_bin(Range* range);
  Range* insert_after(Range* before, uint64_t offset, uint64_t bytes);
  void absorb_next(Range* range);

  std::array<Range*, bins> bins_{};
  std::array<uint64_t, (bins + 63) / 64> occupied_{};  // has a bit for each bin, set if the bin is not empty
  Range *first_ = nullptr, *last_ = nullptr;
  uint64_t size_ = 0;
  std::deque<Range> nodes_;
  Range* spare_ = nullptr;  // unused nodes, linked by `next`
};

}  // namespace troupe
