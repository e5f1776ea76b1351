#include "messages/values/buffer.h"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <thread>
#include <vector>

namespace troupe::buffer_test {
namespace {

BOOST_AUTO_TEST_SUITE(buffer)

struct Counted : Buffer {
  explicit Counted(int& count) {
    owner = &count;
    release = [](Buffer* self) {
      ++*static_cast<int*>(self->owner);
      delete static_cast<Counted*>(self);
    };
  }
};

BOOST_AUTO_TEST_CASE(is_released_once_by_the_last_reference) {
  int released = 0;
  {
    BufferRef first = BufferRef::adopt(new Counted(released));
    BOOST_TEST(first.unique());
    BufferRef second = first;
    BOOST_TEST(!first.unique());
    first = BufferRef{};
    BOOST_TEST(second.unique());
    BufferRef third = std::move(second);
    BOOST_TEST(!second);  // NOLINT: moved from, and empty
    BOOST_TEST(third.unique());
    third = third;  // NOLINT: on purpose
    BOOST_TEST(released == 0);
  }
  BOOST_TEST(released == 1);
}

BOOST_AUTO_TEST_CASE(references_may_be_dropped_by_any_thread) {
  int released = 0;
  {
    BufferRef buffer = BufferRef::adopt(new Counted(released));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([copy = buffer] {
        for (int k = 0; k < 1000; ++k) BufferRef again = copy;
      });
    buffer = BufferRef{};
    for (auto& thread : threads) thread.join();
  }
  BOOST_TEST(released == 1);
}

BOOST_AUTO_TEST_CASE(heap_buffers_are_aligned_and_usable) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{1} << 20}) {
    const auto buffer = heap_allocator().allocate(bytes);
    BOOST_TEST_REQUIRE(buffer.ok());
    BOOST_TEST((*buffer)->bytes == bytes);
    BOOST_TEST(reinterpret_cast<uintptr_t>((*buffer)->data) % 64 == 0u);
    std::memset((*buffer)->data, 7, bytes);
  }
}

BOOST_AUTO_TEST_CASE(an_impossible_size_is_an_error) {
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX / 2}) {
    const auto buffer = heap_allocator().allocate(bytes);
    BOOST_TEST_REQUIRE(!buffer.ok());
    BOOST_TEST((buffer.status().code() == Code::ResourceExhausted));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::buffer_test
