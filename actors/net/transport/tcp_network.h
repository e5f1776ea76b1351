// TcpNetwork: frames over TCP, with mutual TLS or plain. On plain connections a tensor is written from and read into its own
// memory. Everything runs on the thread that runs the io_context. One operation moves at most 256 KiB, so that no connection delays
// the others. An endpoint is "host:port" or, with IPv6, "[address]:port"; port 0 means a free port; "fd:5" is an inherited IPv4
// socket that listens already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/engine/polled.h"
#include "actors/net/transport/tls.h"
#include "messages/env/network.h"

namespace boost::asio {
class io_context;
}

namespace troupe {

struct TcpOptions {
  /// Empty: plain connections, which do not prove the identity of the peer.
  std::optional<TlsFiles> tls = {};
  bool plain_anywhere = false;  ///< allow plain connections beyond the loopback interface
  /// How many accepted connections may wait for the Hello of their peer. If there are more, the oldest is closed.
  size_t max_pending = 256;
  int64_t handshake = 5'000'000'000;  ///< nanoseconds; time limit of the TLS handshake
  /// Nanoseconds; time limit for sending the queue of a connection that was closed.
  int64_t farewell = 1'000'000'000;
};

class TcpNetwork final : public Network {
 public:
  /// The io_context must outlive the network and its connections. Fails with InvalidArgument if the files of `options.tls` cannot
  /// be used.
  static Result<std::unique_ptr<TcpNetwork>> make(boost::asio::io_context& io, const TcpOptions& options);
  ~TcpNetwork() override;

  /// For the control thread, which spins for a while before it sleeps as long as there are connections.
  std::shared_ptr<Polled> streams() const;

  Result<std::unique_ptr<Listener>> listen(const std::string& endpoint, Accept accept) override;
  void connect(const std::string& endpoint, int64_t deadline, Connected connected) override;

 private:
  struct Shared;
  class Acceptor;
  explicit TcpNetwork(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace troupe
