// RangeAllocator: hands out ranges of [0, size) and takes them back: best fit with coalescing, in constant
// time. Bookkeeping alone, outside the memory it describes, so it serves memory that the host cannot touch,
// too. Not thread-safe: its owner locks. Units: bytes; every size a multiple of 64. Bins as in Masmano et
// al., "TLSF: a new dynamic memory allocator", 2004.
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
    Range *before = nullptr, *after = nullptr;   ///< neighbours in the order of offsets
    Range *previous = nullptr, *next = nullptr;  ///< in a bin of free ranges
    uint64_t returned =
        0;  ///< bytes of it that its owner has given back to the system; goes along as ranges are cut and joined
  };
  static constexpr uint64_t alignment = 64;

  /// A range of at least `bytes`, or null when no free one is that large. It stays valid until released.
  Range* allocate(uint64_t bytes);
  /// Takes it back and joins it with its free neighbours.
  void release(Range* range);
  /// Adds `bytes` at the end.
  void grow(uint64_t bytes);

  uint64_t size() const { return size_; }
  /// Bytes of the free range that ends at size(); 0 when there is none.
  uint64_t free_at_end() const { return last_ && last_->free ? last_->bytes : 0; }
  uint64_t largest_free() const;
  /// In the order of offsets.
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
  std::array<uint64_t, (bins + 63) / 64> occupied_{};  // a bit for each bin that is not empty
  Range *first_ = nullptr, *last_ = nullptr;
  uint64_t size_ = 0;
  std::deque<Range> nodes_;
  Range* spare_ = nullptr;  // nodes to use again, linked by `next`
};

}  // namespace troupe
