// ReplayMemory: equal addresses in equal steps, and repeated allocations.
#include <boost/test/unit_test.hpp>

#include "devices/caching_allocator.h"
#include "devices/replay_memory.h"

namespace troupe::test::replay_memory_test {
namespace {

/// Does what a kernel might do: allocates two results and some memory for itself in between.
std::vector<BufferRef> run_kernel(ReplayMemory& memory) {
  BufferRef first = value_or_throw(memory.allocate(1000));
  { const BufferRef scratch = value_or_throw(memory.allocate(5000)); }
  BufferRef second = value_or_throw(memory.allocate(5000));
  std::vector<BufferRef> results;
  results.push_back(std::move(first));
  results.push_back(std::move(second));
  return results;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replay_memory)

BOOST_AUTO_TEST_CASE(equal_steps_get_equal_addresses) {
  ReplayMemory memory(heap_allocator());
  auto before = run_kernel(memory);
  const std::vector<const std::byte*> addresses = {before[0]->data, before[1]->data};
  BOOST_TEST(!memory.empty());
  before.clear();
  BOOST_TEST(memory.empty());
  const auto after = run_kernel(memory);
  BOOST_TEST(after[0]->data == addresses[0]);
  BOOST_TEST(after[1]->data == addresses[1]);
}

BOOST_AUTO_TEST_CASE(notes_are_repeated_where_the_same_memory_is_free) {
  ReplayMemory memory(heap_allocator());
  memory.begin_notes();
  auto results = run_kernel(memory);
  const auto events = memory.end_notes();
  BOOST_TEST(events.size() == 4u);
  const std::byte* const second = results[1]->data;
  std::vector<BufferRef> buffers;
  BOOST_TEST(!memory.replay(events, buffers));  // the results are in use
  results.clear();
  BOOST_TEST(memory.empty());
  BOOST_TEST(memory.replay(events, buffers));
  BOOST_TEST(buffers.size() == 3u);
  BOOST_TEST(!buffers[1]);
  BOOST_TEST(buffers[2]->data == second);
}

BOOST_AUTO_TEST_CASE(a_memory_that_is_full_gets_back_what_is_idle) {
  CachingAllocator device({.cap = 16 << 20});
  ReplayMemory first(device), second(device);
  BufferRef used = value_or_throw(first.allocate(10 << 20));
  BOOST_TEST(!ReplayMemory::release_idle(device));
  BOOST_TEST(!second.allocate(10 << 20).ok());
  used = {};
  BOOST_TEST(!ReplayMemory::release_idle(heap_allocator()));
  BOOST_TEST(ReplayMemory::release_idle(device));
  const BufferRef again = value_or_throw(second.allocate(10 << 20));
  BOOST_TEST(!ReplayMemory::release_idle(device));
}

BOOST_AUTO_TEST_CASE(each_memory_knows_its_own_buffers) {
  ReplayMemory first(heap_allocator()), second(heap_allocator());
  const BufferRef buffer = value_or_throw(first.allocate(64)),
                  other = value_or_throw(heap_allocator().allocate(64));
  BOOST_TEST(first.owns(*buffer.get()));
  BOOST_TEST(!second.owns(*buffer.get()));
  BOOST_TEST(!first.owns(*other.get()));
}

BOOST_AUTO_TEST_CASE(buffers_outlive_their_memory) {
  BufferRef buffer;
  {
    ReplayMemory memory(heap_allocator());
    buffer = value_or_throw(memory.allocate(64));
  }
  std::fill_n(buffer->data, 64, std::byte{1});
  BOOST_TEST((buffer->data[63] == std::byte{1}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::replay_memory_test
