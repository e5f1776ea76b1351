// Rings in shared memory: bytes arrive as they were written while two threads hurry and sleep, and a damaged ring is an error.
#include "actors/net/transport/shared_ring.h"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace troupe::shared_ring_test {
namespace {

struct Fixture {
  std::unique_ptr<RingState> state = std::make_unique<RingState>();
  std::vector<std::byte> memory = std::vector<std::byte>(1024);
  RingWriter writer{*state, memory};
  RingReader reader{*state, memory};

  size_t write(size_t count) { return value_or_throw(writer.write(std::vector<std::byte>(count))); }
  size_t read(size_t count) {
    std::vector<std::byte> into(count);
    return value_or_throw(reader.read(into));
  }
};

BOOST_FIXTURE_TEST_SUITE(shared_ring, Fixture)

BOOST_AUTO_TEST_CASE(a_ring_takes_what_it_has_room_for) {
  BOOST_TEST(write(1000) == 1000u);
  BOOST_TEST(read(10) == 0u);  // nothing is visible before it is published
  writer.publish();
  BOOST_TEST(reader.ready());
  BOOST_TEST(write(100) == 24u);
  BOOST_TEST(write(1) == 0u);
  writer.publish();
  BOOST_TEST(read(600) == 600u);
  BOOST_TEST(write(1) == 0u);  // nor is room before it is released
  reader.release();
  BOOST_TEST(write(1000) == 600u);
  writer.publish();
  BOOST_TEST(read(2000) == 1024u);
  BOOST_TEST(!reader.ready());
}

BOOST_AUTO_TEST_CASE(only_a_side_that_sleeps_is_woken) {
  write(10);
  BOOST_TEST(!writer.publish());
  BOOST_TEST(!reader.sleep());  // bytes are there
  read(10);
  BOOST_TEST(reader.sleep());
  write(10);
  BOOST_TEST(writer.publish());
  write(10);
  BOOST_TEST(!writer.publish());  // it has been woken already
  BOOST_TEST(write(2000) == 994u);
  BOOST_TEST(!writer.wait_for_room());
  writer.publish();
  read(30);
  BOOST_TEST(reader.release());
  BOOST_TEST(!reader.release());
  BOOST_TEST(writer.wait_for_room());
}

// The writer blocks the reader or the reader the writer, at random; whoever sleeps does so until it is woken.
BOOST_AUTO_TEST_CASE(what_two_threads_exchange_arrives_in_order) {
  constexpr size_t total = 2'000'000;
  std::atomic<int> reader_wakes{0}, writer_wakes{0};
  const auto await = [](std::atomic<int>& wakes) {
    while (wakes.load() == 0) std::this_thread::yield();
    --wakes;
  };
  std::thread sender([&] {
    std::minstd_rand random(1);
    std::vector<std::byte> piece(700);
    for (size_t sent = 0; sent < total;) {
      const size_t count = std::min<size_t>(1 + random() % piece.size(), total - sent);
      for (size_t i = 0; i < count; ++i) piece[i] = static_cast<std::byte>((sent + i) % 251);
      for (std::span<const std::byte> rest(piece.data(), count); !rest.empty();) {
        rest = rest.subspan(value_or_throw(writer.write(rest)));
        if (writer.publish()) ++reader_wakes;
        if (!rest.empty() && !writer.wait_for_room()) await(writer_wakes);
      }
      sent += count;
    }
  });
  std::minstd_rand random(2);
  std::vector<std::byte> into(900);
  size_t received = 0, wrong = 0;
  while (received < total) {
    const size_t count = value_or_throw(reader.read(std::span(into).first(1 + random() % into.size())));
    for (size_t i = 0; i < count; ++i)
      wrong += into[i] != static_cast<std::byte>((received + i) % 251) ? 1 : 0;
    received += count;
    if (reader.release()) ++writer_wakes;
    if (count == 0 && reader.sleep()) await(reader_wakes);
  }
  sender.join();
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(positions_that_cannot_be_are_data_loss) {
  std::vector<std::byte> some(10);
  state->written = 5000;
  BOOST_TEST((reader.read(some).status().code() == Code::DataLoss));
  std::vector<std::byte> much(1024);
  BOOST_TEST(write(1024) == 1024u);
  state->read = 1025;
  BOOST_TEST((writer.write(much).status().code() == Code::DataLoss));
  state->read = ~uint64_t{0};
  BOOST_TEST(writer.write(much).status().text().find("position of its reader") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::shared_ring_test
