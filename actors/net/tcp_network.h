// TcpNetwork: frames over TCP, with mutual TLS or plain. A plain tensor is written from and read into its own memory. Everything
// happens on the thread that runs the io_context, at most 256 KiB a turn, so that no connection holds up the others. Endpoints are
// "host:port", of IPv4 or "[IPv6]:port"; port 0 takes a free one; "fd:5" is an IPv4 socket that listens already. Free of CAF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/net/tls.h"
#include "messages/env/network.h"

namespace boost::asio {
class io_context;
}

namespace troupe {

struct TcpOptions {
  std::optional<TlsFiles> tls = {};  ///< none: plain connections, which prove nothing
  bool plain_anywhere = false;       ///< plain connections beyond the loopback interface too
  size_t strangers = 256;            ///< accepted connections not welcomed yet; one more, and the oldest goes
  int64_t handshake = 5'000'000'000;  ///< nanoseconds for TLS
  int64_t farewell = 1'000'000'000;   ///< for what was sent before a connection is closed
};

class TcpNetwork final : public Network {
 public:
  /// The io_context outlives the network and its connections. InvalidArgument for files that are no certificate or key.
  static Result<std::unique_ptr<TcpNetwork>> make(boost::asio::io_context& io, const TcpOptions& options);
  ~TcpNetwork() override;

  Result<std::unique_ptr<Listener>> listen(const std::string& endpoint, Accept accept) override;
  void connect(const std::string& endpoint, int64_t deadline, Connected connected) override;

 private:
  struct Shared;
  class Acceptor;
  explicit TcpNetwork(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace troupe
