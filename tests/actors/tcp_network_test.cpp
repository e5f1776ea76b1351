// Frames over real sockets, plain and TLS: frames arrive complete and in order, peers without permission are refused, and peers
// that send garbage or nothing cost little.
#include "actors/net/tcp_network.h"

#include <boost/test/unit_test.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <numeric>
#include <random>

#include "actors/net/tcp_stream.h"
#include "messages/schemas/link.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/message_reader.h"
#include "messages/wire/wire.h"
#include "tests/support/certificates.h"

namespace troupe {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr const char* server_task = "/job:ps/replica:0/task:0";
constexpr const char* client_task = "/job:worker/replica:0/task:1";

/// One end of a connection, and the frames that it received.
struct Peer final : Connection::Events {
  void adopt(std::unique_ptr<Connection> made, const FrameLimits& limits = {}) {
    connection = std::move(made);
    connection->start(*this, heap_allocator(), limits);
  }
  void received(Frame frame) override {
    if (echo)
      send(frame.header.sequence, std::move(frame.attachments));
    else
      frames.push_back(std::move(frame));
  }
  void closed(Status reason) override {
    end = std::move(reason);
    if (leaves) connection.reset();
  }
  void send(uint64_t sequence, std::vector<Tensor> attachments) {
    Draft<wire::RunStep> draft;
    draft->setHandle(sequence);
    connection->send(value_or_throw(encode({.sequence = sequence}, draft.finish(std::move(attachments)))));
  }

  std::unique_ptr<Connection> connection;
  std::vector<Frame> frames;
  std::optional<Status> end;
  bool echo = false, leaves = false;  ///< leaves: destroys the connection in closed()
};

struct Fixture {
  bool run_until(const std::function<bool()>& done, std::chrono::seconds most = 20s) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io.run_one_for(100ms);
    }
    return true;
  }
  static int64_t soon(std::chrono::nanoseconds from_now = 10s) {
    return (std::chrono::steady_clock::now() + from_now).time_since_epoch().count();
  }

  void serve(const TcpOptions& options) {
    server = value_or_throw(TcpNetwork::make(io, options));
    listener = value_or_throw(server->listen("127.0.0.1:0", [this](std::unique_ptr<Connection> connection) {
      accepted.push_back(std::make_unique<Peer>());
      accepted.back()->echo = echo;
      accepted.back()->leaves = true;
      accepted.back()->adopt(std::move(connection), server_limits);
    }));
  }
  /// Connects and returns the result. If it succeeds, `peer` gets the client's end.
  Status connect(const TcpOptions& options, Peer& peer, std::string endpoint = {}) {
    client = value_or_throw(TcpNetwork::make(io, options));
    std::optional<Status> outcome;
    client->connect(endpoint.empty() ? listener->endpoint() : endpoint, soon(),
                    [&](Result<std::unique_ptr<Connection>> made) {
                      outcome = made.status();
                      if (made) peer.adopt(std::move(*made));
                    });
    BOOST_TEST_REQUIRE(run_until([&] { return outcome.has_value(); }));
    return *outcome;
  }
  /// Returns a connected raw socket, for bytes that are not frames.
  PlainSocket raw() {
    PlainSocket socket(io);
    const std::string endpoint = listener->endpoint();
    const auto port = static_cast<unsigned short>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
    socket.connect({asio::ip::make_address("127.0.0.1"), port});
    return socket;
  }

  asio::io_context io;
  test::Certificates certificates;
  std::unique_ptr<TcpNetwork> server, client;
  std::unique_ptr<Network::Listener> listener;
  std::vector<std::unique_ptr<Peer>> accepted;
  FrameLimits server_limits;
  bool echo = false;
};

Tensor bytes(size_t count, uint64_t seed) {
  Tensor tensor = value_or_throw(Tensor::allocate(DType::UInt8, Shape{static_cast<int64_t>(count)}));
  std::minstd_rand random(static_cast<unsigned>(seed + 1));
  for (uint8_t& value : tensor.write<uint8_t>()) value = static_cast<uint8_t>(random());
  return tensor;
}

BOOST_FIXTURE_TEST_SUITE(tcp_network, Fixture)

BOOST_AUTO_TEST_CASE(frames_of_every_size_come_back_as_they_were) {
  for (const bool tls : {false, true}) {
    accepted.clear();
    echo = true;
    TcpOptions server_options, client_options;
    if (tls) {
      server_options.tls = certificates.of(server_task);
      client_options.tls = certificates.of(client_task);
    }
    serve(server_options);
    Peer peer;
    BOOST_TEST_REQUIRE(connect(client_options, peer).ok());
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
    BOOST_TEST(
        (peer.connection->proven_task() == (tls ? std::optional<std::string>(server_task) : std::nullopt)));
    BOOST_TEST((accepted[0]->connection->proven_task() ==
                (tls ? std::optional<std::string>(client_task) : std::nullopt)));
    peer.connection.reset();
    BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
    BOOST_TEST(accepted[0]->end->ok());
  }
}

BOOST_AUTO_TEST_CASE(what_was_sent_before_the_end_arrives) {
  serve({});
  Peer peer;
  BOOST_TEST_REQUIRE(connect({}, peer).ok());
  BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == 1; }));
  for (uint64_t i = 1; i <= 10; ++i) peer.send(i, {bytes(100'000, i)});
  peer.connection.reset();
  BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
  BOOST_TEST(accepted[0]->frames.size() == 10u);
}

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
}  // namespace troupe
