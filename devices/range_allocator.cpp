#include "devices/range_allocator.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace troupe {
namespace {

// A remainder smaller than this is not cut off, since nobody asks for so little.
constexpr uint64_t min_remainder = 4096;
// How many ranges of a bin are compared to find the best one.
constexpr int max_candidates = 16;

}  // namespace

// Bins divide each doubling evenly, so a range in a later bin is larger than every range in an earlier one.
unsigned RangeAllocator::bin_of(uint64_t bytes) {
  const uint64_t units = std::max<uint64_t>(bytes / alignment, 1);
  const auto doubling = static_cast<unsigned>(std::bit_width(units)) - 1;
  const uint64_t eighths = doubling >= 3 ? units >> (doubling - 3) : units << (3 - doubling);
  return doubling * bins_per_doubling + static_cast<unsigned>(eighths % bins_per_doubling);
}

RangeAllocator::Range* RangeAllocator::best_in(unsigned bin, uint64_t bytes) const {
  Range* best = nullptr;
  int candidates = 0;
  for (Range* range = bins_[bin]; range && candidates < max_candidates; range = range->next, ++candidates)
    if (range->bytes >= bytes && (!best || range->bytes < best->bytes)) best = range;
  return best;
}

// Returns the first bin that is not empty, starting from `bin`; `bins` if there is none.
unsigned RangeAllocator::next_bin(unsigned bin) const {
  for (unsigned word = bin / 64; word < occupied_.size(); ++word) {
    const uint64_t bits = word == bin / 64 ? occupied_[word] >> (bin % 64) << (bin % 64) : occupied_[word];
    if (bits != 0) return word * 64 + static_cast<unsigned>(std::countr_zero(bits));
  }
  return bins;
}

RangeAllocator::Range* RangeAllocator::allocate(uint64_t bytes) {
  Range* range = nullptr;
  for (unsigned bin = next_bin(bin_of(bytes)); bin < bins && !range; bin = next_bin(bin + 1))
    range = best_in(bin, bytes);
  if (!range) return nullptr;
  leave_bin(range);
  if (range->bytes - bytes >= min_remainder) {
    Range* const rest = insert_after(range, range->offset + bytes, range->bytes - bytes);
    range->bytes = bytes;
    rest->returned = range->returned - std::min(range->returned, bytes);
    range->returned -= rest->returned;
    enter_bin(rest);
  }
  return range;
}

void RangeAllocator::release(Range* range) {
  if (Range* after = range->after; after && after->free) {
    leave_bin(after);
    absorb_next(range);
  }
  if (Range* before = range->before; before && before->free) {
    leave_bin(before);
    absorb_next(before);
    range = before;
  }
  enter_bin(range);
}

void RangeAllocator::grow(uint64_t bytes) {
  Range* const more = insert_after(last_, size_, bytes);
  size_ += bytes;
  release(more);
}

uint64_t RangeAllocator::largest_free() const {
  for (unsigned word = static_cast<unsigned>(occupied_.size()); word-- > 0;) {
    if (occupied_[word] == 0) continue;
    uint64_t largest = 0;
    const unsigned bin = word * 64 + 63 - static_cast<unsigned>(std::countl_zero(occupied_[word]));
    for (const Range* range = bins_[bin]; range; range = range->next)
      largest = std::max(largest, range->bytes);
    return largest;
  }
  return 0;
}

void RangeAllocator::enter_bin(Range* range) {
  const unsigned bin = bin_of(range->bytes);
  range->free = true;
  range->previous = nullptr;
  range->next = std::exchange(bins_[bin], range);
  if (range->next) range->next->previous = range;
  occupied_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void RangeAllocator::leave_bin(Range* range) {
  const unsigned bin = bin_of(range->bytes);
  range->free = false;
  (range->previous ? range->previous->next : bins_[bin]) = range->next;
  if (range->next) range->next->previous = range->previous;
  if (!bins_[bin]) occupied_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
}

RangeAllocator::Range* RangeAllocator::insert_after(Range* before, uint64_t offset, uint64_t bytes) {
  Range* range = spare_;
  if (range)
    spare_ = range->next;
  else
    range = &nodes_.emplace_back();
  Range* const after = before ? before->after : nullptr;
  *range = Range{offset, bytes, false, before, after, nullptr, nullptr, 0};
  (before ? before->after : first_) = range;
  (after ? after->before : last_) = range;
  return range;
}

// Neither of the two ranges may be in a bin.
void RangeAllocator::absorb_next(Range* range) {
  Range* const gone = range->after;
  range->bytes += gone->bytes;
  range->returned += gone->returned;
  range->after = gone->after;
  (gone->after ? gone->after->before : last_) = range;
  gone->next = std::exchange(spare_, gone);
}

}  // namespace troupe
