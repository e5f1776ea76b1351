// What tests of the transports share: two networks on one io_context, and the ends of their connections.
#pragma once

#include <boost/test/unit_test.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "actors/net/transport/shared_network.h"
#include "actors/net/transport/tcp_network.h"
#include "actors/net/transport/tcp_stream.h"
#include "actors/net/transport/ucx_network.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/message_reader.h"
#include "tests/support/net/certificates.h"

namespace troupe::test {

inline constexpr const char* server_task = "/job:ps/replica:0/task:0";
inline constexpr const char* client_task = "/job:worker/replica:0/task:1";

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
  void receiving() override { ++pieces; }
  void closed(Status reason) override {
    end = std::move(reason);
    if (leaves) connection.reset();
  }
  void send(uint64_t sequence, std::vector<Tensor> attachments) {
    Draft<wire::RunStep> draft;
    draft->setHandle(sequence);
    connection->send(value_or_throw(
        encode({.sequence = sequence}, draft.finish(std::move(attachments)), connection->lender())));
  }

  std::unique_ptr<Connection> connection;
  std::vector<Frame> frames;
  std::optional<Status> end;
  size_t pieces = 0;                  ///< how often bytes have arrived
  bool echo = false, leaves = false;  ///< leaves: destroys the connection in closed()
};

/// Chooses the devices of UCX for networks that are made later, as users do; null: as UCX likes.
inline void choose_devices(const char* transports) {
  for (const char* const name : {"UCX_TLS", "UCX_MM_ERROR_HANDLING"}) ::unsetenv(name);
  if (!transports) return;
  ::setenv("UCX_TLS", transports, 1);
  if (std::string_view(transports) != "tcp") ::setenv("UCX_MM_ERROR_HANDLING", "y", 1);
}

struct TwoNetworks {
  ~TwoNetworks() {
    if (ucx) choose_devices(nullptr);
  }
  bool run_until(const std::function<bool()>& done, std::chrono::seconds most = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io.run_one_for(std::chrono::milliseconds(100));
    }
    return true;
  }
  static int64_t soon(std::chrono::nanoseconds from_now = std::chrono::seconds(10)) {
    return (std::chrono::steady_clock::now() + from_now).time_since_epoch().count();
  }

  std::unique_ptr<Network> make(const TcpOptions& options) {
    if (ucx)
      return value_or_throw(make_ucx_network(io, value_or_throw(TcpNetwork::make(io, options)))).network;
    return std::make_unique<SharedNetwork>(io, value_or_throw(TcpNetwork::make(io, options)), arenas);
  }
  void serve(const TcpOptions& options) {
    server = make(options);
    listener = value_or_throw(server->listen("127.0.0.1:0", [this](std::unique_ptr<Connection> connection) {
      accepted.push_back(std::make_unique<Peer>());
      accepted.back()->echo = echo;
      accepted.back()->leaves = true;
      accepted.back()->adopt(std::move(connection), server_limits);
    }));
  }
  /// Connects and returns the result. If it succeeds, `peer` gets the client's end.
  Status connect(const TcpOptions& options, Peer& peer, std::string endpoint = {}) {
    client = make(options);
    return outcome_of(peer, [&](Network::Connected connected) {
      client->connect(endpoint.empty() ? listener->endpoint() : endpoint, soon(), std::move(connected));
    });
  }
  /// Does the same as the server has offered. The certificates of both sides name these tasks.
  Status accept_offer(const TransportOffer& offer, Peer& peer,
                      std::chrono::nanoseconds most = std::chrono::seconds(10)) {
    if (!client) client = make({});
    return outcome_of(peer, [&](Network::Connected connected) {
      client->accept_offer(offer, server_task, soon(most), std::move(connected));
    });
  }
  TransportOffer offer() { return server->make_offer(client_task).value(); }
  Status outcome_of(Peer& peer, const std::function<void(Network::Connected)>& begin) {
    std::optional<Status> outcome;
    begin([&](Result<std::unique_ptr<Connection>> made) {
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
    socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
    return socket;
  }

  boost::asio::io_context io;
  Certificates certificates;
  bool ucx = false;                      ///< the networks offer UCX, not shared memory
  std::shared_ptr<SharedArenas> arenas;  ///< of the tensors that are lent; may be null
  std::unique_ptr<Network> server, client;
  std::unique_ptr<Network::Listener> listener;
  std::vector<std::unique_ptr<Peer>> accepted;
  FrameLimits server_limits;
  bool echo = false;
};

inline Tensor bytes(size_t count, uint64_t seed) {
  Tensor tensor = value_or_throw(Tensor::allocate(DType::UInt8, Shape{static_cast<int64_t>(count)}));
  std::minstd_rand random(static_cast<unsigned>(seed + 1));
  for (uint8_t& value : tensor.write<uint8_t>()) value = static_cast<uint8_t>(random());
  return tensor;
}

}  // namespace troupe::test
