// Connections through UCX: only who has the token gets one, what a peer sends is checked, and an idle network takes no time.
#include "actors/net/transport/ucx_network.h"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>

#include <csignal>
#include <ctime>

#include "actors/net/transport/offers.h"
#include "actors/net/transport/outgoing_pieces.h"
#include "actors/net/transport/ucx_worker.h"
#include "tests/support/net/two_networks.h"

namespace troupe::ucx_network_test {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// What a user's UCX_TLS chooses: TCP, or the memory of a host.
const auto devices = boost::unit_test::data::make({"tcp", "posix"});

struct Fixture : TwoNetworks {
  void start(const char* chosen) {
    choose_devices(chosen);
    ucx = true;
    serve({});
  }
  /// Connects a peer to the server and waits until both sides have a connection.
  void join(Peer& peer) {
    const size_t before = accepted.size();
    BOOST_TEST_REQUIRE(accept_offer(offer(), peer).ok());
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == before + 1; }));
  }
};

/// A process that has the token, but sends what it likes.
struct Vandal {
  Vandal(Fixture& fixture, const TransportOffer& offer)
      : worker(value_or_throw(UcxWorker::make(fixture.io))), token(offer.token) {
    endpoint = value_or_throw(worker->connect(offer.address));
    std::ranges::copy(offer.token, header.key.begin());
    content = std::string(Offers::token_bytes, 'k') + worker->address();
    send(UcxWorker::opening_id, token.data(), token.size(), content);
  }
  ~Vandal() { worker->close(endpoint); }
  /// What is given must live on.
  void send(unsigned id, const void* head, size_t head_bytes, const std::string& bytes, unsigned flags = 0) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    const auto request =
        worker->ucx().am_send_nbx(endpoint, id, head, head_bytes, bytes.data(), bytes.size(), &param);
    if (UCS_PTR_IS_PTR(request)) worker->ucx().request_free(request);
    worker->work_soon();
  }
  std::shared_ptr<UcxWorker> worker;
  ucp_ep_h endpoint = nullptr;
  PieceHeader header;
  std::string token, content;
};

BOOST_AUTO_TEST_SUITE(ucx_network)

BOOST_DATA_TEST_CASE_F(Fixture, large_tensors_arrive, devices) {
  start(sample);
  Peer peer;
  join(peer);
  const Tensor large = bytes(64 << 20, 1);
  peer.send(1, {large, bytes(3, 2), large});
  accepted[0]->send(1, {large});
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->frames.size() == 1 && peer.frames.size() == 1; }));
  BOOST_TEST(identical(accepted[0]->frames[0].attachments[0], large));
  BOOST_TEST(identical(accepted[0]->frames[0].attachments[1], bytes(3, 2)));
  BOOST_TEST(identical(accepted[0]->frames[0].attachments[2], large));
  BOOST_TEST(identical(peer.frames[0].attachments[0], large));
}

BOOST_DATA_TEST_CASE_F(Fixture, a_token_opens_one_connection, devices) {
  start(sample);
  const TransportOffer good = offer();
  TransportOffer wrong = good, damaged = good;
  wrong.token[5] = static_cast<char>(wrong.token[5] ^ 1);
  damaged.address[20] = static_cast<char>(damaged.address[20] ^ 1);
  Peer stranger, friendly;
  BOOST_TEST(accept_offer(wrong, stranger, 200ms).text() ==
             "the peer has not accepted a connection through UCX in time");
  BOOST_TEST((accept_offer({good.address, "short"}, stranger).code() == Code::InvalidArgument));
  BOOST_TEST((accept_offer(damaged, stranger).code() == Code::DataLoss));
  BOOST_TEST(accepted.empty());
  BOOST_TEST(accept_offer(good, friendly).ok());
  BOOST_TEST(!accept_offer(good, stranger, 200ms).ok());
  BOOST_TEST(accepted.size() == 1u);
  listener.reset();
  BOOST_TEST(!server->make_offer({}).has_value());
}

BOOST_DATA_TEST_CASE_F(Fixture, garbage_ends_its_connection_and_no_other, devices) {
  start(sample);
  Peer honest;
  join(honest);
  const auto sends = [&](const std::function<void(Vandal&)>& damage) {
    Vandal vandal(*this, offer());
    const size_t before = accepted.size();
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == before + 1; }));
    damage(vandal);
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.back()->end.has_value(); }));
    BOOST_TEST(!accepted.back()->end->ok());
    BOOST_TEST(accepted.back()->frames.empty());
  };
  const std::string garbage(1000, 'x'), large(5 << 20, 'x');
  const auto piece = [](Vandal& vandal, const std::string& content, unsigned flags = 0) {
    vandal.send(UcxWorker::piece_id, &vandal.header, sizeof vandal.header, content, flags);
  };
  sends([&](Vandal& vandal) { piece(vandal, garbage); });
  sends([&](Vandal& vandal) { piece(vandal, large, UCP_AM_SEND_FLAG_RNDV); });  // larger than any piece
  sends([&](Vandal& vandal) {
    vandal.header.number = 1'000'000;
    piece(vandal, garbage);
  });
  sends([&](Vandal& vandal) {
    vandal.header.number = 1;
    piece(vandal, garbage);
    piece(vandal, garbage);  // a piece with the same number
  });
  sends([&](Vandal& vandal) {
    vandal.header.kind = static_cast<PieceHeader::Kind>(7);
    piece(vandal, garbage);
  });
  Vandal stranger(*this, {server->make_offer({})->address, std::string(16, 't')});
  piece(stranger, garbage);  // for no stream
  stranger.send(UcxWorker::piece_id, "short", 5, garbage);
  honest.send(1, {bytes(300'000, 1)});
  BOOST_TEST(run_until([&] { return accepted.front()->frames.size() == 1; }));
}

// One side leaves while the other sends more than is under way at a time.
BOOST_DATA_TEST_CASE_F(Fixture, a_connection_ends_while_tensors_are_under_way, devices) {
  start(sample);
  const Tensor large = bytes(10 << 20, 1);
  for (int round = 0; round < 5; ++round) {
    Peer peer;
    join(peer);
    Peer& other = *accepted.back();
    for (uint64_t i = 1; i <= 4; ++i) peer.send(i, {large});
    io.poll();
    if (round % 2 == 0)
      other.connection.reset();
    else
      BOOST_TEST_REQUIRE(run_until([&] { return !other.frames.empty(); }));
    if (round % 2 == 1) other.connection.reset();
    BOOST_TEST_REQUIRE(run_until([&] { return peer.end.has_value(); }));
    BOOST_TEST(peer.end->ok(), peer.end->message());
  }
}

BOOST_DATA_TEST_CASE_F(Fixture, an_idle_network_takes_no_time, devices) {
  start(sample);
  Peer peer;
  join(peer);
  peer.send(1, {bytes(100'000, 1)});
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->frames.size() == 1; }));
  io.run_for(50ms);
  const auto used = std::clock();
  io.run_for(200ms);
  BOOST_TEST(static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC < 0.02);
}

// UCX would install handlers of its own for signals such as SIGSEGV.
BOOST_FIXTURE_TEST_CASE(the_handlers_of_signals_stay, Fixture) {
  start("tcp");
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGHUP}) {
    struct sigaction action {};
    BOOST_TEST_REQUIRE(::sigaction(number, nullptr, &action) == 0);
    Dl_info where{};
    const bool known = ::dladdr(reinterpret_cast<void*>(action.sa_handler), &where) != 0;
    BOOST_TEST((!known || std::string(where.dli_fname).find("libucs") == std::string::npos));
  }
}

BOOST_FIXTURE_TEST_CASE(a_choice_without_devices_is_an_error, TwoNetworks) {
  ::setenv("UCX_TLS", "nothing", 1);
  const auto made = make_ucx_network(io, value_or_throw(TcpNetwork::make(io, {})));
  ::unsetenv("UCX_TLS");
  BOOST_TEST((made.status().code() == Code::Unavailable), made.status().message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::ucx_network_test
