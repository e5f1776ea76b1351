#include "devices/range_allocator.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace troupe::range_allocator_test {
namespace {

BOOST_AUTO_TEST_SUITE(range_allocator)

using Range = RangeAllocator::Range;
constexpr uint64_t page = 4096;

// The ranges cover [0, size) in order, and free ranges are never neighbours.
void check_whole(const RangeAllocator& ranges) {
  uint64_t end = 0, largest = 0, last_free = 0;
  bool free_before = false;
  for (const Range* range = ranges.first(); range; range = range->after) {
    BOOST_REQUIRE(range->offset == end);
    BOOST_REQUIRE(!(free_before && range->free));
    free_before = range->free;
    end += range->bytes;
    last_free = range->free ? range->bytes : 0;
    largest = std::max(largest, last_free);
  }
  BOOST_REQUIRE(end == ranges.size());
  BOOST_REQUIRE(largest == ranges.largest_free());
  BOOST_REQUIRE(last_free == ranges.free_at_end());
}

BOOST_AUTO_TEST_CASE(has_nothing_before_it_grows) {
  RangeAllocator ranges;
  BOOST_TEST(!ranges.allocate(64));
  BOOST_TEST(ranges.largest_free() == 0u);
  ranges.grow(10 * page);
  Range* const all = ranges.allocate(10 * page);
  BOOST_REQUIRE(all);
  BOOST_TEST(!ranges.allocate(64));
  ranges.grow(2 * page);
  BOOST_TEST(ranges.free_at_end() == 2 * page);
  ranges.release(all);
  BOOST_TEST(ranges.free_at_end() == 12 * page);  // the old and the new memory are joined
  check_whole(ranges);
}

BOOST_AUTO_TEST_CASE(takes_the_smallest_piece_that_is_large_enough) {
  // | 30 | x | 20 | x | 25 | x | 8 |   free ranges of these sizes between ranges in use (x)
  RangeAllocator ranges;
  ranges.grow(86 * page);
  std::vector<Range*> made;
  for (const uint64_t pages : {30, 1, 20, 1, 25, 1, 8}) made.push_back(ranges.allocate(pages * page));
  for (const size_t i : {0, 2, 4, 6}) ranges.release(made[i]);
  BOOST_TEST(ranges.allocate(22 * page)->offset == 51 * page + page);
  BOOST_TEST(ranges.allocate(20 * page)->offset == 31 * page);
  BOOST_TEST(ranges.allocate(28 * page)->offset == 0u);
  check_whole(ranges);
}

BOOST_AUTO_TEST_CASE(joins_free_neighbours_on_both_sides) {
  RangeAllocator ranges;
  ranges.grow(4 * page);
  Range *a = ranges.allocate(page), *b = ranges.allocate(page), *c = ranges.allocate(page),
        *d = ranges.allocate(page);
  ranges.release(a);
  ranges.release(c);
  BOOST_TEST(!ranges.allocate(2 * page));
  ranges.release(b);
  BOOST_TEST(ranges.largest_free() == 3 * page);
  ranges.release(d);
  BOOST_TEST(ranges.largest_free() == 4 * page);
  BOOST_TEST(ranges.allocate(4 * page)->offset == 0u);
}

BOOST_AUTO_TEST_CASE(keeps_its_order_under_random_use) {
  std::mt19937_64 random(1);
  RangeAllocator ranges;
  std::vector<Range*> held;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t bytes = 64 * (1 + random() % (uint64_t{1} << random() % 12));
    if (!held.empty() && random() % 2 == 0) {
      std::swap(held[random() % held.size()], held.back());
      ranges.release(held.back());
      held.pop_back();
    } else {
      const bool fits = ranges.largest_free() >= bytes;
      Range* range = ranges.allocate(bytes);
      if (!range) {
        // It may miss a range in a crowded bin, but never one that is twice as large.
        BOOST_REQUIRE((!fits || ranges.largest_free() < 2 * bytes));
        ranges.grow((bytes + page - 1) / page * page);
        range = ranges.allocate(bytes);
      }
      BOOST_REQUIRE(range);
      BOOST_REQUIRE(!range->free);
      BOOST_REQUIRE(range->bytes >= bytes);
      BOOST_REQUIRE(range->bytes < bytes + page);
      held.push_back(range);
    }
    if (step % 100 == 0) check_whole(ranges);
  }
  for (Range* range : held) ranges.release(range);
  check_whole(ranges);
  BOOST_TEST(ranges.largest_free() == ranges.size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::range_allocator_test
