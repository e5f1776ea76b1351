// Connections through shared memory: only a process of this user that has the token gets one, and a damaged ring ends only its own
// connection.
#include "actors/net/transport/shared_network.h"

#include <boost/test/unit_test.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "actors/net/transport/shared_memory.h"
#include "tests/support/net/two_networks.h"

namespace troupe::shared_network_test {
namespace {

using namespace test;

size_t open_descriptors() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

/// Returns the size of the address space in KiB.
size_t mapped() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmSize:")) return std::stoul(line.substr(7));
  return 0;
}

struct Fixture : TwoNetworks {
  Fixture() { serve({}); }
  /// Connects a peer to the server and waits until both sides have a connection.
  void join(Peer& peer) {
    accepted.clear();
    BOOST_TEST_REQUIRE(accept_offer(offer(), peer).ok());
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == 1; }));
  }
};

/// A process that has the token, but then does what it likes with the rings.
struct Vandal {
  explicit Vandal(Fixture& fixture, const TransportOffer& offer)
      : socket(value_or_throw(connect_locally(offer.address))) {
    throw_if_failed(send_packet(socket.number(), std::as_bytes(std::span(offer.token))));
    Packet packet;
    BOOST_TEST_REQUIRE(
        fixture.run_until([&] { return receive_packet(socket.number(), packet) == Receipt::Packet; }));
    file = value_or_throw(MappedFile::map(packet.descriptor.number(), 0, true));
    fixture.io.poll();
  }
  void wake() {
    const std::byte packet{};
    throw_if_failed(send_packet(socket.number(), {&packet, 1}));
  }
  Descriptor socket;
  MappedFile file;
};

BOOST_FIXTURE_TEST_SUITE(shared_network, Fixture)

BOOST_AUTO_TEST_CASE(a_token_opens_one_connection) {
  const TransportOffer good = offer();
  BOOST_TEST(good.token.size() == 16u);
  BOOST_TEST(offer().token != good.token);
  TransportOffer wrong = good;
  wrong.token[5] = static_cast<char>(wrong.token[5] ^ 1);
  Peer stranger, friendly, second;
  BOOST_TEST(accept_offer(wrong, stranger).text() == "the peer refuses to share memory");
  BOOST_TEST((accept_offer({good.address, "short"}, stranger).code() == Code::InvalidArgument));
  BOOST_TEST(accept_offer({"troupe-nowhere", good.token}, stranger).text().find("cannot connect") == 0u);
  BOOST_TEST(accepted.empty());
  BOOST_TEST(accept_offer(good, friendly).ok());
  BOOST_TEST(!accept_offer(good, second).ok());
  listener.reset();
  BOOST_TEST(!server->make_offer({}).has_value());
}

// Needs the right to change the user, which tests in a container have.
BOOST_AUTO_TEST_CASE(another_user_is_refused_even_with_a_token) {
  if (::getuid() != 0) return;
  const TransportOffer good = offer();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(3);
    const auto socket = connect_locally(good.address);
    ::_exit(socket.status().code() == Code::PermissionDenied ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  const pid_t bold = ::fork();  // one that does not check whom it talks to
  if (bold == 0) {
    const Descriptor socket = value_or_throw(connect_locally(good.address));
    if (::setuid(65534) != 0) ::_exit(3);
    ::_exit(send_packet(socket.number(), std::as_bytes(std::span(good.token))).ok() ? 0 : 1);
  }
  ::waitpid(bold, &status, 0);
  BOOST_TEST(WIFEXITED(status));
}

BOOST_AUTO_TEST_CASE(places_differ_unless_memory_can_be_shared) {
  BOOST_TEST(!sharing_place().empty());
  BOOST_TEST(server->place() == sharing_place());
  if (::getuid() != 0) return;
  std::array<int, 2> ends{};
  BOOST_TEST_REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(3);
    const std::string place = sharing_place();
    (void)!::write(ends[1], place.data(), place.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string there(200, ' ');
  there.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(ends[0], there.data(), there.size()))));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  BOOST_TEST(there != sharing_place());
}

BOOST_AUTO_TEST_CASE(garbage_in_a_ring_ends_its_connection_and_no_other) {
  Peer honest;
  join(honest);
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Vandal vandal(*this, offer());
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == static_cast<size_t>(round) + 2; }));
    const auto memory = vandal.file.memory();
    // Random positions, or few random bytes at the front of the ring.
    if (round % 2 == 0)
      for (std::byte& byte : memory.first(4096)) byte = static_cast<std::byte>(random());
    else {
      for (std::byte& byte : memory.subspan(4096)) byte = static_cast<std::byte>(random());
      auto* const state = reinterpret_cast<RingState*>(memory.data());
      for (size_t side = 0; side < 4; ++side) state[side].written = 100 + random() % 1000;
    }
    vandal.wake();
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.back()->end.has_value(); }));
    BOOST_TEST(!accepted.back()->end->ok());
    BOOST_TEST(accepted.back()->frames.empty());
  }
  honest.send(1, {bytes(300'000, 1)});
  BOOST_TEST(run_until([&] { return accepted.front()->frames.size() == 1; }));
}

BOOST_AUTO_TEST_CASE(a_file_that_can_shrink_is_not_mapped) {
  const Descriptor file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  BOOST_TEST_REQUIRE(::ftruncate(file.number(), 1 << 20) == 0);
  BOOST_TEST((MappedFile::map(file.number(), 0, false).status().code() == Code::InvalidArgument));
  BOOST_TEST((SharedRings::map(file.number()).status().code() == Code::InvalidArgument));
  BOOST_TEST((MappedFile::map(-1, 0, false).status().code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(a_hundred_connections_leave_nothing_behind) {
  size_t files = 0, memory = 0;
  for (int round = 0; round < 101; ++round) {
    Peer peer;
    join(peer);
    peer.send(1, {bytes(1000, 1)});
    BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->frames.size() == 1; }));
    peer.connection.reset();
    BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
    io.poll();
    if (round > 0) continue;
    files = open_descriptors();
    memory = mapped();
  }
  BOOST_TEST(open_descriptors() == files);
  BOOST_TEST(mapped() <= memory + 2 * SharedRings::frame_bytes / 1024);  // less than one connection has
}

BOOST_AUTO_TEST_CASE(silent_processes_take_few_descriptors_and_keep_nobody_out) {
  const std::string address = offer().address;
  const size_t files = open_descriptors();
  std::vector<Descriptor> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(value_or_throw(connect_locally(address)));
    io.poll();
  }
  BOOST_TEST(open_descriptors() <= files + 100 + 32);  // theirs, and those at this end
  Peer peer;
  join(peer);
}

// While it spins, a peer needs no system call to reach it; when it sleeps, it is woken.
BOOST_AUTO_TEST_CASE(a_network_can_be_polled) {
  Polled& streams = *static_cast<SharedNetwork&>(*server).streams();
  Peer peer;
  join(peer);
  io.poll();
  streams.poll();
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    peer.send(sequence, {});
    BOOST_TEST(streams.poll());
    BOOST_TEST(accepted[0]->frames.size() == sequence);
  }
  peer.send(4, {});
  BOOST_TEST(!streams.sleep());
  BOOST_TEST(streams.poll());
  BOOST_TEST(streams.sleep());
  peer.send(5, {});
  BOOST_TEST(run_until([&] { return accepted[0]->frames.size() == 5; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::shared_network_test
