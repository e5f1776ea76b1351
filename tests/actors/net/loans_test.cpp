// Tensors that are lent through shared memory: nobody copies them, nobody overwrites them while they are lent, and they stay
// readable whatever becomes of the lender.
#include "actors/net/transport/loans.h"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "devices/caching_allocator.h"
#include "tests/support/net/two_networks.h"

namespace troupe::loans_test {
namespace {

using namespace test;

constexpr size_t some = 100'000, mebibyte = 1 << 20;

struct Fixture : TwoNetworks {
  Fixture() {
    arenas = own_arenas;
    serve({});
  }
  void join(Peer& peer) {
    BOOST_TEST_REQUIRE(accept_offer(offer(), peer).ok());
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == 1; }));
  }
  /// Returns a tensor in memory that can be lent.
  Tensor lendable(uint8_t value, size_t count = some) {
    Tensor tensor =
        value_or_throw(Tensor::allocate(DType::UInt8, Shape{static_cast<int64_t>(count)}, allocator));
    std::memset(tensor.mutable_data(), value, count);
    return tensor;
  }
  /// Sends a tensor to the server and returns it as it arrived.
  Tensor send(Peer& peer, Tensor tensor) {
    const size_t before = accepted[0]->frames.size();
    peer.send(before + 1, {std::move(tensor)});
    BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->frames.size() == before + 1; }));
    return std::move(accepted[0]->frames.back().attachments[0]);
  }
  static bool has_only(const Tensor& tensor, uint8_t value) {
    return std::ranges::all_of(tensor.as<uint8_t>(), [&](uint8_t byte) { return byte == value; });
  }

  std::shared_ptr<SharedArenas> own_arenas = std::make_shared<SharedArenas>();
  CachingAllocator allocator{{.cap = 64 * mebibyte, .shared = own_arenas}};
};

BOOST_FIXTURE_TEST_SUITE(loans, Fixture)

BOOST_AUTO_TEST_CASE(a_lent_tensor_is_shared_until_it_is_returned) {
  Peer peer;
  join(peer);
  Tensor mine = lendable(7);
  {
    const Tensor theirs = send(peer, mine);
    BOOST_TEST(has_only(theirs, 7));
    BOOST_TEST(!theirs.unique());  // so no kernel writes to it
    BOOST_TEST(!mine.unique());
    mine.mutable_data()[5] = std::byte{8};  // only to show that both are the same memory
    BOOST_TEST(theirs.as<uint8_t>()[5] == 8);
    io.run_for(std::chrono::milliseconds(20));
    BOOST_TEST(!mine.unique());
  }
  BOOST_TEST(run_until([&] { return mine.unique(); }, std::chrono::seconds(1)));
}

BOOST_AUTO_TEST_CASE(rows_are_lent_and_what_is_small_or_elsewhere_is_copied) {
  Peer peer;
  join(peer);
  Tensor both = lendable(1, 2 * some).reshaped(Shape{2, static_cast<int64_t>(some)});
  std::memset(both.mutable_data() + some, 2, some);
  const Tensor row = send(peer, both.rows(1, 2));
  BOOST_TEST(has_only(row, 2));
  BOOST_TEST(!row.unique());
  BOOST_TEST(send(peer, lendable(3, 1000)).unique());
  BOOST_TEST(send(peer, bytes(some, 1)).unique());  // on the heap
  BOOST_TEST(identical(send(peer, bytes(some, 1)), bytes(some, 1)));
}

BOOST_AUTO_TEST_CASE(thousands_of_loans_take_no_more_memory_than_those_at_once) {
  Peer peer;
  join(peer);
  for (int i = 0; i < 3000; ++i)
    BOOST_TEST_REQUIRE(has_only(send(peer, lendable(static_cast<uint8_t>(i))), static_cast<uint8_t>(i)));
  io.run_for(std::chrono::milliseconds(10));
  BOOST_TEST(allocator.statistics().peak < 32 * mebibyte);
}

// The lender goes, and reuses its memory at once; the borrower keeps its tensor, which becomes its own.
BOOST_AUTO_TEST_CASE(a_tensor_survives_the_connection) {
  std::optional<Peer> peer(std::in_place);
  join(*peer);
  Tensor theirs = send(*peer, lendable(7)), other = send(*peer, lendable(9));
  peer.reset();
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
  BOOST_TEST(run_until([&] { return allocator.statistics().in_use < some; }, std::chrono::seconds(1)));
  std::vector<Tensor> reused;
  for (int i = 0; i < 10; ++i) reused.push_back(lendable(100));
  BOOST_TEST(has_only(theirs, 7));
  BOOST_TEST(has_only(other, 9));
  BOOST_TEST(theirs.unique());
  theirs.write<uint8_t>()[0] = 1;
  BOOST_TEST(has_only(other, 9));
}

BOOST_AUTO_TEST_CASE(a_tensor_survives_its_receiver_s_end_of_the_connection) {
  Peer peer;
  join(peer);
  const Tensor theirs = send(peer, lendable(7));
  accepted[0]->connection.reset();
  BOOST_TEST_REQUIRE(run_until([&] { return peer.end.has_value(); }));
  BOOST_TEST(run_until([&] { return allocator.statistics().in_use < some; }, std::chrono::seconds(1)));
  const Tensor reused = lendable(100);
  BOOST_TEST(has_only(theirs, 7));
}

// A process that is killed: what it has borrowed comes back, what it has lent stays.
BOOST_AUTO_TEST_CASE(the_death_of_a_process_loses_nothing) {
  const TransportOffer memory = offer();
  const pid_t child = ::fork();
  if (child == 0) {
    Fixture own;
    own.server.reset();
    Peer peer;
    own.client = own.make({});
    if (!own.accept_offer(memory, peer).ok()) ::_exit(1);
    peer.send(1, {own.lendable(42)});
    (void)own.run_until([&] { return peer.end.has_value(); }, std::chrono::seconds(100));
    ::_exit(0);
  }
  BOOST_TEST_REQUIRE(run_until([&] { return !accepted.empty() && !accepted[0]->frames.empty(); }));
  const Tensor lent = lendable(5);
  accepted[0]->send(1, {lent});
  io.run_for(std::chrono::milliseconds(50));
  BOOST_TEST(!lent.unique());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  BOOST_TEST(run_until([&] { return lent.unique(); }, std::chrono::seconds(1)));
  BOOST_TEST(accepted[0]->end.has_value());
  BOOST_TEST(has_only(accepted[0]->frames[0].attachments[0], 42));
}

// A process that is stopped may go on to read; so its loans are kept until it ends, even if its connection is closed.
BOOST_AUTO_TEST_CASE(what_a_stopped_process_has_borrowed_is_kept_for_it) {
  const TransportOffer memory = offer();
  const pid_t child = ::fork();
  if (child == 0) {
    Fixture own;
    Peer peer;
    own.client = own.make({});
    if (!own.accept_offer(memory, peer).ok()) ::_exit(1);
    (void)own.run_until([&] { return peer.end.has_value(); }, std::chrono::seconds(100));
    ::_exit(peer.frames.size() == 1 && has_only(peer.frames[0].attachments[0], 5) ? 0 : 1);
  }
  BOOST_TEST_REQUIRE(run_until([&] { return !accepted.empty(); }));
  ::kill(child, SIGSTOP);
  const Tensor lent = lendable(5);
  accepted[0]->send(1, {lent});
  accepted[0]->connection.reset();
  io.run_for(std::chrono::milliseconds(50));
  BOOST_TEST(!lent.unique());
  ::kill(child, SIGCONT);
  int status = 0;
  BOOST_TEST(run_until([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
  BOOST_TEST(status == 0);
  BOOST_TEST(run_until([&] { return lent.unique(); }, std::chrono::seconds(1)));
}

BOOST_AUTO_TEST_CASE(a_hundred_borrowers_leave_nothing_behind) {
  for (int round = 0; round < 100; ++round) {
    Peer peer;
    accepted.clear();
    join(peer);
    const Tensor theirs = send(peer, lendable(7, 2 * mebibyte));
    BOOST_TEST_REQUIRE(!theirs.unique());
  }
  BOOST_TEST(run_until([&] { return allocator.statistics().in_use < some; }, std::chrono::seconds(1)));
  BOOST_TEST(allocator.statistics().peak < 32 * mebibyte);
}

BOOST_AUTO_TEST_CASE(loans_of_what_is_not_there_are_refused) {
  auto rings = SharedRings::make();
  BOOST_TEST_REQUIRE(rings.ok());
  Borrowed borrowed(nullptr, rings->first.returns_from(0));
  const auto refused = [&](const Loan& loan, size_t count, const std::string& why) {
    const auto status = borrowed.borrow(loan, count).status();
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(status.text().find(why) != std::string::npos, status.text());
  };
  refused({1, 0, 1}, 10, "has not sent");
  BOOST_TEST(!borrowed.add_part(2, {.descriptor = Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC))}).ok());
  refused({1, 0, 2}, 10, "arena 2, which is not mapped: the peer sent a file that is no memory file");
  const Tensor tensor = lendable(3);
  const auto place = own_arenas->lend(tensor.data(), tensor.bytes());
  BOOST_TEST(borrowed.add_part(1, value_or_throw(own_arenas->part(place->arena, 0))).ok());
  refused({1, 64 * mebibyte + 1, 1}, 10, "offset");
  refused({1, 64 * mebibyte - 5, 1}, 10, "offset");
  refused({1, 5, 1}, ~size_t{0}, "offset");
  refused({1, ~uint64_t{0}, 1}, 10, "offset");
  BOOST_TEST(borrowed.borrow({1, 0, 1}, 10).ok());
  refused({1, 0, 1}, 10, "used before");
  // What the other side returns must be lent.
  Lent lent(own_arenas, -1, rings->first.returns_to(1));
  RingWriter returns = rings->first.returns_from(0);
  const uint64_t number = 5;
  BOOST_TEST_REQUIRE(returns.write(std::as_bytes(std::span(&number, 1))).ok());
  returns.publish();
  BOOST_TEST((lent.take_returns().code() == Code::DataLoss));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::loans_test
