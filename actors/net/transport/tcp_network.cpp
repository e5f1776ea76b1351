#include "actors/net/transport/tcp_network.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "actors/net/transport/pending_streams.h"
#include "actors/net/transport/tcp_stream.h"

#include <boost/asio/connect.hpp>

namespace troupe {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Splits "host:port" or "[::1]:port".
Result<std::pair<std::string, std::string>> split_endpoint(const std::string& endpoint) {
  const size_t colon = endpoint.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == endpoint.size())
    return invalid_argument("'" + endpoint + "' is not an endpoint of the form host:port");
  std::string host = endpoint.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return std::pair(host, endpoint.substr(colon + 1));
}

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

/// The open connections. Their sockets belong to the io_context, so there is nothing else to poll.
struct OpenStreams final : Polled {
  size_t count = 0;

  bool is_active() const override { return count != 0; }
  bool poll() override { return false; }
  bool sleep() override { return true; }
};

template <class Socket>
class TcpConnection final : public Connection {
 public:
  TcpConnection(std::shared_ptr<TcpStream<Socket>> stream, std::shared_ptr<OpenStreams> open)
      : stream_(std::move(stream)), open_(std::move(open)) {
    ++open_->count;
  }
  ~TcpConnection() override {  // NOLINT(bugprone-exception-escape): timers are cancelled without failure
    --open_->count;
    stream_->release();
  }
  void start(Events& events, Allocator& memory, const FrameLimits& limits) override {
    stream_->start(events, memory, limits);
  }
  void welcome(const FrameLimits& limits) override { stream_->welcome(limits); }
  void send(EncodedFrame frame) override { stream_->send(std::move(frame)); }
  size_t unsent() const override { return stream_->unsent(); }
  const std::string& peer() const override { return stream_->peer(); }
  std::optional<std::string> proven_task() const override {
    if constexpr (std::is_same_v<Socket, TlsSocket>)
      return troupe::proven_task(stream_->socket().native_handle());
    return std::nullopt;
  }

 private:
  const std::shared_ptr<TcpStream<Socket>> stream_;
  const std::shared_ptr<OpenStreams> open_;
};

}  // namespace

struct TcpNetwork::Shared : std::enable_shared_from_this<Shared> {
  Shared(asio::io_context& context, const TcpOptions& given)
      : io(context), options(given), pending(given.max_pending) {}

  using Side = asio::ssl::stream_base::handshake_type;

  /// Makes a Connection of a connected socket.
  void open(PlainSocket socket, Side side, const Connected& made);
  template <class Socket>
  void open(Socket socket, const std::string& peer, Side side, const Connected& made);

  asio::io_context& io;
  const TcpOptions options;
  std::shared_ptr<asio::ssl::context> tls;
  PendingStreams pending;
  const std::shared_ptr<OpenStreams> streams = std::make_shared<OpenStreams>();
};

void TcpNetwork::Shared::open(PlainSocket socket, Side side, const Connected& made) {
  SocketError error;
  socket.set_option(tcp::no_delay(true), error);
  const auto remote = socket.remote_endpoint(error);
  if (error) return made(unavailable(error.message()));
  const std::string peer = text_of(remote);
  if (tls) return open(TlsSocket(std::move(socket), *tls), peer, side, made);
  if (options.plain_anywhere || remote.address().is_loopback())
    return open<PlainSocket>(std::move(socket), peer, side, made);
  made(failed_precondition("a plain connection with " + peer +
                           " is refused: use TLS, or allow plain connections beyond the loopback interface "
                           "(cluster.plain = true)"));
}

template <class Socket>
void TcpNetwork::Shared::open(Socket socket, const std::string& peer, Side side, const Connected& made) {
  auto stream = std::make_shared<TcpStream<Socket>>(std::move(socket), peer, options.farewell);
  if (side == Side::server) {
    const auto one = pending.add([weak = std::weak_ptr(stream)] {
      if (const auto oldest = weak.lock())
        oldest->abort(resource_exhausted("too many connections wait for the Hello of their peer"));
    });
    stream->on_settled([self = shared_from_this(), one] { self->pending.remove(one); });
  }
  stream->shake_hands(side, options.handshake, [stream, made, count = streams](const Status& status) {
    if (status.ok())
      made(std::unique_ptr<Connection>(std::make_unique<TcpConnection<Socket>>(stream, count)));
    else
      made(status);
  });
}

Result<std::unique_ptr<TcpNetwork>> TcpNetwork::make(asio::io_context& io, const TcpOptions& options) {
  auto shared = std::make_shared<Shared>(io, options);
  if (options.tls) {
    TROUPE_ASSIGN(shared->tls, make_tls(*options.tls));
  }
  return std::unique_ptr<TcpNetwork>(new TcpNetwork(std::move(shared)));
}

TcpNetwork::TcpNetwork(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
TcpNetwork::~TcpNetwork() { shared_->pending.end_all(); }

std::shared_ptr<Polled> TcpNetwork::streams() const { return shared_->streams; }

// Listening.

/// Accepts connections while the Listener lives. Its pending operation keeps it alive.
class TcpNetwork::Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<Shared> shared, Accept accept)
      : shared_(std::move(shared)), acceptor_(shared_->io), pause_(shared_->io), accept_(std::move(accept)) {}

  Result<std::string> open(const std::string& endpoint) {
    if (endpoint.starts_with("fd:")) return inherit(endpoint);
    TROUPE_ASSIGN(const auto host_port, split_endpoint(endpoint));
    SocketError error;
    tcp::resolver resolver(shared_->io);
    const auto found = resolver.resolve(host_port.first, host_port.second, tcp::resolver::passive, error);
    if (error) return unavailable(endpoint + ": " + error.message());
    const tcp::endpoint where = found.begin()->endpoint();
    acceptor_.open(where.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(where, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (error == asio::error::address_in_use) return already_exists(endpoint + " is in use");
    if (error) return unavailable(endpoint + ": " + error.message());
    accept();
    return text_of(acceptor_.local_endpoint(error));
  }
  void close() {
    accept_ = nullptr;
    SocketError ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }

 private:
  /// Uses an inherited socket that listens already.
  Result<std::string> inherit(const std::string& endpoint) {
    SocketError error;
    acceptor_.assign(tcp::v4(), std::atoi(endpoint.c_str() + 3), error);
    tcp::endpoint where;
    if (!error) where = acceptor_.local_endpoint(error);
    if (error) return unavailable(endpoint + ": " + error.message());
    accept();
    return text_of(where);
  }

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](const SocketError& error, PlainSocket socket) {
      if (!self->accept_) return;
      if (error) return self->accept_later();
      self->shared_->open(std::move(socket), asio::ssl::stream_base::server,
                          [self](Result<std::unique_ptr<Connection>> connection) {
                            if (connection && self->accept_) self->accept_(std::move(*connection));
                          });
      self->accept();
    });
  }

  /// Accepting failed, most likely because file descriptors have run out: closes the oldest pending connection and tries again
  /// soon.
  void accept_later() {
    shared_->pending.end_oldest();
    pause_.expires_after(std::chrono::milliseconds(10));
    pause_.async_wait([self = shared_from_this()](const SocketError& error) {
      if (!error && self->accept_) self->accept();
    });
  }

  const std::shared_ptr<Shared> shared_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  Accept accept_;
};

Result<std::unique_ptr<Network::Listener>> TcpNetwork::listen(const std::string& endpoint, Accept accept) {
  class TcpListener final : public Listener {
   public:
    TcpListener(std::shared_ptr<Acceptor> acceptor, std::string endpoint)
        : acceptor_(std::move(acceptor)), endpoint_(std::move(endpoint)) {}
    ~TcpListener() override { acceptor_->close(); }  // NOLINT(bugprone-exception-escape): as above
    const std::string& endpoint() const override { return endpoint_; }

   private:
    const std::shared_ptr<Acceptor> acceptor_;
    const std::string endpoint_;
  };
  auto acceptor = std::make_shared<Acceptor>(shared_, std::move(accept));
  TROUPE_ASSIGN(auto bound, acceptor->open(endpoint));
  return std::unique_ptr<Listener>(std::make_unique<TcpListener>(std::move(acceptor), std::move(bound)));
}

// Connecting.

namespace {

/// Connects one socket. Its pending operations keep it alive until `done` has been called.
class Connector : public std::enable_shared_from_this<Connector> {
 public:
  using Done = std::function<void(Result<PlainSocket>)>;
  Connector(asio::io_context& io, std::string endpoint, Done done)
      : resolver_(io), socket_(io), timer_(io), endpoint_(std::move(endpoint)), done_(std::move(done)) {}

  void start(const std::string& host, const std::string& port, int64_t deadline) {
    if (deadline != 0) {
      timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)));
      timer_.async_wait([self = shared_from_this()](const SocketError& error) {
        if (!error) self->answer(unavailable(self->endpoint_ + " did not answer in time"));
      });
    }
    resolver_.async_resolve(
        host, port, [self = shared_from_this()](const SocketError& error, const auto& found) {
          if (error)
            return self->answer(
                unavailable("no address found for " + self->endpoint_ + ": " + error.message()));
          if (self->done_) self->connect(found);
        });
  }

 private:
  void connect(const tcp::resolver::results_type& found) {
    asio::async_connect(socket_, found,
                        [self = shared_from_this()](const SocketError& error, const tcp::endpoint&) {
                          if (error)
                            self->answer(unavailable(self->endpoint_ + ": " + error.message()));
                          else
                            self->answer(std::move(self->socket_));
                        });
  }
  void answer(Result<PlainSocket> result) {
    const auto done = std::exchange(done_, nullptr);
    if (!done) return;
    timer_.cancel();
    resolver_.cancel();
    SocketError ignored;
    if (!result) socket_.close(ignored);
    done(std::move(result));
  }

  tcp::resolver resolver_;
  PlainSocket socket_;
  asio::steady_timer timer_;
  const std::string endpoint_;
  Done done_;
};

}  // namespace

void TcpNetwork::connect(const std::string& endpoint, int64_t deadline, Connected connected) {
  const auto host_port = split_endpoint(endpoint);
  if (!host_port)
    return asio::post(shared_->io,
                      [connected = std::move(connected), status = host_port.status()] { connected(status); });
  std::make_shared<Connector>(
      shared_->io, endpoint,
      [shared = shared_, connected = std::move(connected)](Result<PlainSocket> socket) {
        if (!socket) return connected(socket.status());
        shared->open(std::move(*socket), asio::ssl::stream_base::client, connected);
      })
      ->start(host_port->first, host_port->second, deadline);
}

}  // namespace troupe
