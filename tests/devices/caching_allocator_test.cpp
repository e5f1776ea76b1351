#include "devices/caching_allocator.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace troupe::caching_allocator_test {
namespace {

BOOST_AUTO_TEST_SUITE(caching_allocator)

constexpr size_t mebibyte = 1 << 20;

BufferRef get(Allocator& allocator, size_t bytes) { return value_or_throw(allocator.allocate(bytes)); }

bool filled_with(const BufferRef& buffer, int value) {
  return std::all_of(buffer->data, buffer->data + buffer->bytes,
                     [&](std::byte b) { return b == std::byte(value); });
}

BOOST_AUTO_TEST_CASE(gives_aligned_host_memory_of_every_size) {
  CachingAllocator allocator({.cap = 64 * mebibyte});
  for (const size_t bytes : {0, 1, 4, 63, 64, 65, 1000, 4031, 4032, 4033, 100000, 8 << 20}) {
    const BufferRef buffer = get(allocator, bytes);
    BOOST_TEST(buffer->bytes == bytes);
    BOOST_TEST(reinterpret_cast<uintptr_t>(buffer->data) % 64 == 0u);
    BOOST_TEST((buffer->kind == MemoryKind::Host));
    BOOST_TEST(buffer.unique());
    std::memset(buffer->data, 1, bytes);
  }
}

BOOST_AUTO_TEST_CASE(counts_what_is_in_use) {
  CachingAllocator allocator({.cap = 64 * mebibyte});
  BOOST_TEST(allocator.statistics().reserved == 0u);
  {
    const BufferRef scalar = get(allocator, 4);
    BOOST_TEST(allocator.statistics().in_use == 128u);  // the header and the data, one cache line each
    const BufferRef large = get(allocator, mebibyte);
    const MemoryStatistics now = allocator.statistics();
    BOOST_TEST(now.in_use == mebibyte + 128);
    BOOST_TEST(now.peak >= now.in_use);
    BOOST_TEST(now.reserved == 2 * mebibyte);
    BOOST_TEST(now.cap == 64 * mebibyte);
    BOOST_TEST(now.allocations == 2u);
  }
  for (int i = 0; i < 100; ++i) get(allocator, 4);
  const MemoryStatistics end = allocator.statistics();
  BOOST_TEST(end.in_use == 0u);
  BOOST_TEST(end.peak < 2 * mebibyte);
  BOOST_TEST(end.allocations == 102u);
}

BOOST_AUTO_TEST_CASE(uses_released_memory_again) {
  CachingAllocator allocator({.cap = 64 * mebibyte});
  for (const size_t bytes : {4, 4000, 5000, 3 << 20}) {
    const std::byte* first = get(allocator, bytes)->data;
    for (int i = 0; i < 10; ++i) BOOST_TEST(get(allocator, bytes)->data == first);
  }
}

BOOST_AUTO_TEST_CASE(joins_released_neighbours) {
  CachingAllocator allocator({.cap = 4 * mebibyte});
  std::vector<BufferRef> pieces;
  for (int i = 0; i < 8; ++i) pieces.push_back(get(allocator, mebibyte / 2));
  for (size_t i = 0; i < 8; i += 2) pieces[i] = {};
  BOOST_TEST(!allocator.allocate(mebibyte));
  for (size_t i = 1; i < 8; i += 2) pieces[i] = {};
  BOOST_TEST(get(allocator, 4 * mebibyte)->bytes == 4 * mebibyte);
}

BOOST_AUTO_TEST_CASE(names_the_cap_and_the_sizes_when_memory_is_exhausted) {
  CachingAllocator allocator({.cap = 4 * mebibyte});
  BufferRef held = get(allocator, 3 * mebibyte);
  const Status full = allocator.allocate(2 * mebibyte).status();
  BOOST_TEST((full.code() == Code::ResourceExhausted));
  BOOST_TEST(full.text() ==
             "an allocation of 2097152 bytes: the memory cap is 4194304 bytes; 3145728 bytes are in use, the "
             "largest free piece has 1048576");
  BOOST_TEST((allocator.allocate(SIZE_MAX).status().code() == Code::ResourceExhausted));
  BOOST_TEST((allocator.allocate(5 * mebibyte).status().code() == Code::ResourceExhausted));
  held = {};
  BOOST_TEST(get(allocator, 4 * mebibyte)->bytes == 4 * mebibyte);

  // The cap holds for small blocks, too, and released memory is used again.
  std::vector<BufferRef> scalars;
  for (;;) {
    auto scalar = allocator.allocate(4);
    if (!scalar) break;
    scalars.push_back(*std::move(scalar));
  }
  BOOST_TEST(scalars.size() == 4 * mebibyte / 128);
  scalars.pop_back();
  BOOST_TEST(allocator.allocate(4).ok());
}

BOOST_AUTO_TEST_CASE(buffers_outlive_the_allocator) {
  std::optional<CachingAllocator> allocator(std::in_place, Arena::Options{.cap = 64 * mebibyte});
  BufferRef small = get(*allocator, 100), other = get(*allocator, 100), large = get(*allocator, mebibyte);
  std::memset(small->data, 1, small->bytes);
  std::memset(large->data, 2, large->bytes);
  allocator.reset();
  BOOST_TEST(filled_with(small, 1));
  BOOST_TEST(filled_with(large, 2));
  std::thread([large = std::move(large), other = std::move(other)] {}).join();
  BOOST_TEST(filled_with(small, 1));
}

BOOST_AUTO_TEST_CASE(what_a_thread_kept_comes_back_when_it_ends) {
  CachingAllocator allocator({.cap = 2 * mebibyte});
  // There are more threads than the cap could serve if each kept its blocks.
  for (int i = 0; i < 200; ++i)
    std::thread([&] {
      std::vector<BufferRef> mine;
      for (int k = 0; k < 100; ++k) mine.push_back(get(allocator, 1000));
    }).join();
  BOOST_TEST(allocator.statistics().in_use == 0u);
  BOOST_TEST(allocator.statistics().allocations == 20000u);
}

BOOST_AUTO_TEST_CASE(a_thread_uses_several_allocators) {
  CachingAllocator first({.cap = 4 * mebibyte}), second({.cap = 4 * mebibyte});
  for (int round = 0; round < 3; ++round) {
    CachingAllocator third({.cap = 4 * mebibyte});
    const BufferRef a = get(first, 8), b = get(second, 8), c = get(third, 8);
    BOOST_TEST(first.statistics().in_use == 128u);
    BOOST_TEST(second.statistics().in_use == 128u);
    BOOST_TEST(third.statistics().in_use == 128u);
  }
  BOOST_TEST(first.statistics().in_use == 0u);
  BOOST_TEST(second.statistics().in_use == 0u);
}

BOOST_AUTO_TEST_CASE(a_buffer_tells_where_a_shared_arena_holds_it) {
  const auto arenas = std::make_shared<SharedArenas>();
  CachingAllocator allocator({.cap = 4 * mebibyte, .shared = arenas});
  const BufferRef small = get(allocator, 10), large = get(allocator, 100000);
  const ArenaPart whole = value_or_throw(arenas->part(1, 0));
  BOOST_TEST(whole.bytes == 4 * mebibyte);
  void* const mapped = mmap(nullptr, whole.bytes, PROT_READ, MAP_SHARED, whole.descriptor.number(), 0);
  BOOST_REQUIRE(mapped != MAP_FAILED);
  for (const Buffer* buffer : {small.get(), large.get()}) {
    BOOST_TEST(buffer->arena == 1u);
    const auto place = arenas->lend(buffer->data, buffer->bytes);
    BOOST_TEST_REQUIRE(place.has_value());
    BOOST_TEST(place->arena == 1u);
    BOOST_TEST(place->offset == buffer->offset);
    BOOST_TEST(place->parts == 1u);
    std::memset(buffer->data, 5, buffer->bytes);
    BOOST_TEST(std::memcmp(static_cast<std::byte*>(mapped) + buffer->offset, buffer->data, buffer->bytes) ==
               0);
  }
  munmap(mapped, 4 * mebibyte);
}

// Every buffer is filled with its number and must still contain it when it is released. Buffers never overlap.
BOOST_AUTO_TEST_CASE(buffers_never_overlap_under_random_use) {
  std::mt19937_64 random(1);
  CachingAllocator allocator({.cap = 8 * mebibyte});
  struct Held {
    BufferRef buffer;
    int value;
  };
  std::map<std::byte*, Held> held;
  size_t refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (!held.empty() && random() % 9 < 4) {
      auto it = held.lower_bound(std::next(held.begin(), static_cast<long>(random() % held.size()))->first);
      BOOST_REQUIRE(filled_with(it->second.buffer, it->second.value));
      held.erase(it);
      continue;
    }
    const size_t bytes = 1 + random() % (size_t{1} << (random() % 18));
    auto buffer = allocator.allocate(bytes);
    if (!buffer) {
      ++refused;
      held.clear();
      continue;
    }
    std::byte* const data = (*buffer)->data;
    const auto after = held.lower_bound(data);
    BOOST_REQUIRE((after == held.end() || data + bytes <= after->first));
    if (after != held.begin()) {
      const auto& before = *std::prev(after);
      BOOST_REQUIRE(before.first + before.second.buffer->bytes <= data);
    }
    std::memset(data, step & 0xff, bytes);
    held.emplace(data, Held{*std::move(buffer), step & 0xff});
  }
  held.clear();
  BOOST_TEST(refused > 0u);  // so the cap was reached
  BOOST_TEST(allocator.statistics().in_use == 0u);
}

BOOST_AUTO_TEST_CASE(threads_allocate_and_release_what_others_allocated) {
  CachingAllocator allocator({.cap = 256 * mebibyte});
  std::mutex mutex;
  std::vector<std::pair<BufferRef, int>> exchange(64);
  std::atomic<int> damaged{0};
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number)
      threads.emplace_back([&, number] {
        std::mt19937 random(static_cast<unsigned>(number));
        for (int step = 0; step < 5000; ++step) {
          std::pair<BufferRef, int> mine{get(allocator, 1 + random() % (1u << random() % 15)), number};
          std::memset(mine.first->data, number, mine.first->bytes);
          {
            std::lock_guard lock(mutex);
            std::swap(mine, exchange[random() % exchange.size()]);
          }
          if (mine.first && !filled_with(mine.first, mine.second)) ++damaged;
        }
      });
  }
  exchange.clear();
  BOOST_TEST(damaged == 0);
  BOOST_TEST(allocator.statistics().in_use == 0u);
  BOOST_TEST(allocator.statistics().allocations == 20000u);
}

#ifdef __SANITIZE_ADDRESS__
BOOST_AUTO_TEST_CASE(the_address_sanitizer_sees_what_is_out_of_bounds_or_released) {
  CachingAllocator allocator({.cap = 4 * mebibyte});
  for (const size_t bytes : {10, 10000}) {
    BufferRef buffer = get(allocator, bytes);
    std::byte* const data = buffer->data;
    BOOST_TEST(!__asan_region_is_poisoned(data, bytes));
    BOOST_TEST(__asan_address_is_poisoned(data + bytes));
    buffer = {};
    BOOST_TEST(__asan_address_is_poisoned(data));
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::caching_allocator_test
