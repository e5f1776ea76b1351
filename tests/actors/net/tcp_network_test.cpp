// Real sockets, plain and TLS: peers without permission are refused, and peers that send garbage or nothing cost little.
#include "actors/net/transport/tcp_network.h"

#include <boost/test/unit_test.hpp>

#include <boost/asio/write.hpp>
#include <random>

#include "messages/schemas/link.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/net/two_networks.h"

namespace troupe::tcp_network_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using namespace test;

BOOST_FIXTURE_TEST_SUITE(tcp_network, TwoNetworks)

BOOST_AUTO_TEST_CASE(only_members_of_the_cluster_get_in) {
  serve({.tls = certificates.of(server_task)});
  const auto stays_out = [&](const TcpOptions& options, const std::string& why) {
    accepted.clear();
    Peer peer;
    // With TLS 1.3 a client gets the refusal of its certificate only after its handshake.
    BOOST_TEST_REQUIRE(connect(options, peer).ok());
    BOOST_TEST(run_until([&] { return peer.end.has_value(); }));
    BOOST_TEST(accepted.empty());
    BOOST_TEST((peer.end->code() == Code::PermissionDenied), peer.end->message());
    BOOST_TEST(peer.end->text() == "TLS with " + listener->endpoint() +
                                       " failed: it refuses the certificate of this node: it " + why);
  };
  stays_out({.tls = certificates.of_another_authority(client_task)},
            "is not signed by the authority of the cluster there");
  stays_out({.tls = certificates.of(client_task, 1h, -2h)}, "has expired");
  stays_out({.tls = certificates.of(client_task, 1h, 1h)}, "is not valid, or not valid yet");
  Peer honest;
  BOOST_TEST(connect({.tls = certificates.of(client_task)}, honest).ok());
  BOOST_TEST(run_until([&] { return accepted.size() == 1; }));
}

// The error names the kind of connection of either side, so that it is not taken for a lost connection.
BOOST_AUTO_TEST_CASE(plain_and_tls_tell_each_other_apart) {
  serve({.tls = certificates.of(server_task)});
  Peer plain;
  BOOST_TEST_REQUIRE(connect({}, plain).ok());
  plain.send(1, {});
  BOOST_TEST_REQUIRE(run_until([&] { return plain.end.has_value(); }));
  BOOST_TEST(accepted.empty());
  BOOST_TEST_REQUIRE(plain.frames.size() == 1u);
  const auto goodbye = value_or_throw(receive<wire::Goodbye>(plain.frames.front().words));
  BOOST_TEST((read(goodbye->getReason()).code() == Code::FailedPrecondition));
  BOOST_TEST(read(goodbye->getReason()).text() ==
             "this node speaks TLS, but the node that connected does not");

  listener.reset();
  serve({});
  Peer tls;
  const Status status = connect({.tls = certificates.of(client_task)}, tls);
  BOOST_TEST((status.code() == Code::FailedPrecondition));
  BOOST_TEST(status.text() ==
             "TLS with " + listener->endpoint() + " failed: it does not speak TLS as this node does");
  BOOST_TEST_REQUIRE(accepted.size() == 1u);
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
  BOOST_TEST((accepted[0]->end->code() == Code::FailedPrecondition));
}

BOOST_AUTO_TEST_CASE(a_client_does_not_talk_to_an_impostor) {
  serve({.tls = certificates.of_another_authority(server_task)});
  Peer peer;
  const Status status = connect({.tls = certificates.of(client_task)}, peer);
  BOOST_TEST((status.code() == Code::PermissionDenied));
  BOOST_TEST(status.text() == "TLS with " + listener->endpoint() +
                                  " failed: its certificate is not signed by the authority of the cluster");
}

BOOST_AUTO_TEST_CASE(a_failure_to_connect_says_what_kind) {
  serve({});
  const std::string endpoint = listener->endpoint();
  listener.reset();
  Peer peer;
  BOOST_TEST(connect({}, peer, endpoint).text().find("refused") != std::string::npos);
  BOOST_TEST(connect({}, peer, "no-such-host.invalid:1").text().find("no address") != std::string::npos);
  BOOST_TEST((connect({}, peer, "nonsense").code() == Code::InvalidArgument));
  BOOST_TEST((TcpNetwork::make(io, {.tls = TlsFiles{"/none.pem", "/none.key", "/none.pem"}})
                  .status()
                  .text()
                  .find("/none.pem") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(garbage_ends_the_connection_and_nothing_else) {
  server_limits = FrameLimits::before_hello();
  serve({});
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) {
    PlainSocket socket = raw();
    std::vector<uint8_t> noise(1 + random() % 5000);
    std::ranges::generate(noise, [&] { return static_cast<uint8_t>(random()); });
    if (i % 2 == 0) std::memcpy(noise.data(), "TRPE", std::min<size_t>(noise.size(), 4));
    SocketError ignored;
    asio::write(socket, asio::buffer(noise), ignored);
    socket.shutdown(asio::socket_base::shutdown_send, ignored);
    BOOST_TEST_REQUIRE(run_until([&] { return !accepted.empty() && accepted.back()->end.has_value(); }));
    BOOST_TEST(accepted.back()->frames.empty());
    accepted.clear();
  }
  Peer honest;
  BOOST_TEST(connect({}, honest).ok());
  honest.send(1, {});
  BOOST_TEST(run_until([&] { return !accepted.empty() && accepted[0]->frames.size() == 1; }));
}

// A connection whose peer sends nothing is closed when later ones need its place.
BOOST_AUTO_TEST_CASE(silent_strangers_do_not_keep_others_out) {
  for (const bool tls : {false, true}) {
    accepted.clear();
    TcpOptions server_options{.max_pending = 16}, client_options;
    if (tls) {
      server_options.tls = certificates.of(server_task);
      client_options.tls = certificates.of(client_task);
    }
    serve(server_options);
    std::vector<PlainSocket> silent;
    for (int i = 0; i < 200; ++i) silent.push_back(raw());
    Peer honest;
    BOOST_TEST(connect(client_options, honest).ok());
    honest.send(1, {});
    const auto arrived = [&] {
      return std::ranges::any_of(accepted, [](const auto& peer) { return !peer->frames.empty(); });
    };
    BOOST_TEST(run_until(arrived, 1s));
    const auto open = std::ranges::count_if(accepted, [](const auto& peer) { return !peer->end; });
    BOOST_TEST(open <= 16);
  }
}

BOOST_AUTO_TEST_CASE(a_handshake_that_stalls_ends) {
  serve({.tls = certificates.of(server_task), .handshake = 50'000'000});
  PlainSocket silent = raw();
  std::optional<SocketError> end;
  std::array<char, 1> byte{};
  silent.async_read_some(asio::buffer(byte), [&](const SocketError& error, size_t) { end = error; });
  BOOST_TEST(run_until([&] { return end.has_value(); }, 5s));
  BOOST_TEST(accepted.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::tcp_network_test
