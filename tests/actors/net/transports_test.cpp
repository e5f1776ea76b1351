// What every real transport does: frames arrive complete and in order, and both sides learn that the other one has ended.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "tests/support/net/two_networks.h"

namespace troupe::transports_test {
namespace {

using namespace test;

enum class Kind { Plain, Tls, Shared, UcxTcp, UcxMemory };

std::ostream& operator<<(std::ostream& out, Kind kind) {
  constexpr std::array names = {"plain", "tls", "shared", "ucx over tcp", "ucx over memory"};
  return out << names[static_cast<size_t>(kind)];
}

struct Fixture : TwoNetworks {
  void start(Kind kind) {
    tls = kind == Kind::Tls;
    ucx = kind == Kind::UcxTcp || kind == Kind::UcxMemory;
    if (ucx) choose_devices(kind == Kind::UcxTcp ? "tcp" : "posix");
    is_offered = ucx || kind == Kind::Shared;
    serve(tls ? TcpOptions{.tls = certificates.of(server_task)} : TcpOptions{});
  }
  Status connect_to_server(Peer& peer) {
    if (is_offered) return accept_offer(offer(), peer);
    return connect(tls ? TcpOptions{.tls = certificates.of(client_task)} : TcpOptions{}, peer);
  }
  /// Connects a child process to the server, and makes it send frames until it ends.
  pid_t connect_child() {
    std::optional<TransportOffer> offered;
    if (is_offered) offered = offer();
    const pid_t child = ::fork();
    if (child != 0) return child;
    Fixture own;
    own.tls = tls;
    own.ucx = ucx;
    Peer peer;
    own.client = own.make(tls ? TcpOptions{.tls = certificates.of(client_task)} : TcpOptions{});
    const Status status =
        offered ? own.accept_offer(*offered, peer) : own.outcome_of(peer, [&](Network::Connected connected) {
          own.client->connect(listener->endpoint(), soon(), std::move(connected));
        });
    if (!status.ok()) ::_exit(1);
    for (uint64_t sequence = 1; !peer.end; ++sequence) {
      peer.send(sequence, {bytes(100'000, sequence)});
      (void)own.run_until([&] { return peer.end || peer.connection->unsent() < 1'000'000; });
    }
    ::_exit(0);
  }
  bool tls = false, is_offered = false;
};

std::vector<Kind> every_kind() {
  std::vector<Kind> all = {Kind::Plain, Kind::Tls, Kind::Shared};
  if (has_ucx()) all.insert(all.end(), {Kind::UcxTcp, Kind::UcxMemory});
  return all;
}

const auto transports = boost::unit_test::data::make(every_kind());

BOOST_AUTO_TEST_SUITE(transports_suite)

BOOST_DATA_TEST_CASE_F(Fixture, frames_of_every_size_come_back_as_they_were, transports) {
  echo = true;
  start(sample);
  Peer peer;
  BOOST_TEST_REQUIRE(connect_to_server(peer).ok());
  const std::vector<size_t> sizes = {0, 1, 100, 4095, 16384, 16385, 70000, 1 << 20, 5'000'001};
  for (uint64_t round = 0; round < 3; ++round)
    for (size_t i = 0; i < sizes.size(); ++i)
      peer.send(round * sizes.size() + i + 1, {bytes(sizes[i], i), Tensor::scalar(1.5f), bytes(7, i)});
  BOOST_TEST(peer.connection->unsent() > 0u);
  BOOST_TEST_REQUIRE(run_until([&] { return peer.frames.size() == 3 * sizes.size(); }));
  for (size_t i = 0; i < peer.frames.size(); ++i) {
    BOOST_TEST(peer.frames[i].header.sequence == i + 1);
    BOOST_TEST(identical(peer.frames[i].attachments[0], bytes(sizes[i % sizes.size()], i % sizes.size())));
    BOOST_TEST(identical(peer.frames[i].attachments[2], bytes(7, i % sizes.size())));
  }
  BOOST_TEST(peer.connection->unsent() == 0u);
  const bool proven = sample != Kind::Plain;
  BOOST_TEST(
      (peer.connection->proven_task() == (proven ? std::optional<std::string>(server_task) : std::nullopt)));
  BOOST_TEST((accepted[0]->connection->proven_task() ==
              (proven ? std::optional<std::string>(client_task) : std::nullopt)));
  BOOST_TEST(peer.connection->is_offered() == is_offered);
  peer.connection.reset();
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
  BOOST_TEST(accepted[0]->end->ok());
}

// A large frame over a slow network takes longer than a peer may be silent.
BOOST_AUTO_TEST_CASE(the_pieces_of_a_frame_are_signs_of_life) {
  for (const Kind kind : {Kind::Plain, Kind::Tls}) {
    Fixture f;
    f.start(kind);
    Peer peer;
    BOOST_TEST_REQUIRE(f.connect_to_server(peer).ok());
    BOOST_TEST_REQUIRE(f.run_until([&] { return !f.accepted.empty(); }));
    peer.send(1, {bytes(30'000'000, 1)});
    BOOST_TEST_REQUIRE(f.run_until([&] { return f.accepted[0]->pieces > 2; }));
    BOOST_TEST(f.run_until([&] { return f.accepted[0]->frames.size() == 1; }));
  }
}

BOOST_DATA_TEST_CASE_F(Fixture, what_was_sent_before_the_end_arrives, transports) {
  start(sample);
  Peer peer;
  BOOST_TEST_REQUIRE(connect_to_server(peer).ok());
  BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == 1; }));
  for (uint64_t i = 1; i <= 10; ++i) peer.send(i, {bytes(100'000, i)});
  peer.connection.reset();
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
  BOOST_TEST(accepted[0]->frames.size() == 10u);
}

// A peer that is killed while it sends: what arrives before is whole, and the end is noticed at once.
BOOST_DATA_TEST_CASE_F(Fixture, the_death_of_a_process_ends_its_connection, transports) {
  if (sample == Kind::UcxMemory) return;  // the link notices it by its other connection
  start(sample);
  const pid_t child = connect_child();
  BOOST_TEST_REQUIRE(run_until([&] { return !accepted.empty() && accepted[0]->frames.size() >= 20; }));
  ::kill(child, SIGKILL);
  const auto killed = std::chrono::steady_clock::now();
  ::waitpid(child, nullptr, 0);
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
  BOOST_TEST((std::chrono::steady_clock::now() - killed < std::chrono::seconds(1)));
  for (size_t i = 0; i < accepted[0]->frames.size(); ++i)
    BOOST_TEST_REQUIRE(identical(accepted[0]->frames[i].attachments[0], bytes(100'000, i + 1)));
}

// A receiver that reads nothing costs its sender what it wants to send, and this is counted.
BOOST_DATA_TEST_CASE_F(Fixture, what_a_peer_does_not_read_is_unsent, transports) {
  start(sample);
  const pid_t child = connect_child();
  BOOST_TEST_REQUIRE(run_until([&] { return !accepted.empty() && !accepted[0]->frames.empty(); }));
  ::kill(child, SIGSTOP);
  const Tensor much = bytes(1 << 20, 1);
  for (uint64_t i = 1; i <= 32; ++i) accepted[0]->send(i, {much});
  io.run_for(std::chrono::milliseconds(50));
  BOOST_TEST(accepted[0]->connection->unsent() > 16u << 20);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  BOOST_TEST((sample == Kind::UcxMemory || run_until([&] { return accepted[0]->end.has_value(); })));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::transports_test
