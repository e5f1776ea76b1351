#include "actors/net/transport/shared_network.h"

#include "actors/net/transport/offers.h"
#include "actors/net/transport/pending_streams.h"
#include "actors/net/transport/shared_stream.h"

#include <boost/asio/post.hpp>

namespace troupe {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;
using SocketError = boost::system::error_code;

constexpr std::chrono::seconds patience{5};  // for the token of a process that has connected
constexpr size_t max_greetings = 32;         // of processes that have connected and sent no token yet

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes)
    for (const int shift : {4, 0})
      text.push_back("0123456789abcdef"[static_cast<uint8_t>(byte) >> shift & 15]);
  return text;
}

class SharedConnection final : public Connection {
 public:
  SharedConnection(std::shared_ptr<SharedStream> stream, std::optional<std::string> proven_task)
      : stream_(std::move(stream)), proven_task_(std::move(proven_task)) {}
  ~SharedConnection() override { stream_->release(); }
  void start(Events& events, Allocator& memory, const FrameLimits& limits) override {
    stream_->start(events, memory, limits);
  }
  void welcome(const FrameLimits& limits) override { stream_->welcome(limits); }
  void send(EncodedFrame frame) override { stream_->send(std::move(frame)); }
  size_t unsent() const override { return stream_->unsent(); }
  const std::string& peer() const override { return stream_->peer(); }
  std::optional<std::string> proven_task() const override { return proven_task_; }
  bool is_offered() const override { return true; }
  Lender* lender() override { return &stream_->lender(); }

 private:
  const std::shared_ptr<SharedStream> stream_;
  const std::optional<std::string> proven_task_;
};

}  // namespace

struct SharedNetwork::Shared {
  Shared(asio::io_context& context, std::shared_ptr<SharedArenas> lent)
      : io(context), arenas(std::move(lent)) {}

  Result<std::unique_ptr<Connection>> open(Descriptor socket, SharedRings rings, int side,
                                           std::optional<std::string> proven_task) {
    TROUPE_ASSIGN(const int process, check_same_user(socket.number()));
    auto stream = std::make_shared<SharedStream>(io, streams, arenas, std::move(socket), std::move(rings),
                                                 side, "process " + std::to_string(process));
    return std::unique_ptr<Connection>(
        std::make_unique<SharedConnection>(std::move(stream), std::move(proven_task)));
  }

  asio::io_context& io;
  const std::shared_ptr<SharedArenas> arenas;
  const std::string place = troupe::sharing_place();
  const std::shared_ptr<SharedStreams> streams = std::make_shared<SharedStreams>();
  std::string socket_name;  ///< of the Unix socket; empty while the node does not listen
  Offers offers;
  PendingStreams greetings{max_greetings};
};

/// Waits for the first packet of the other side on a new socket. Its pending operations keep it alive.
class SharedNetwork::Greeting : public std::enable_shared_from_this<Greeting> {
 public:
  using Done = std::function<void(Result<Packet>, Descriptor socket)>;
  Greeting(asio::io_context& io, Descriptor socket) : socket_(io, socket.release()), timer_(io) {}

  /// Calls `done` once.
  void start(std::chrono::steady_clock::time_point deadline, Done done) {
    done_ = std::move(done);
    timer_.expires_at(deadline);
    timer_.async_wait([self = shared_from_this()](const SocketError& error) {
      if (!error) self->answer(unavailable("the other side of a Unix socket did not answer in time"));
    });
    wait();
  }
  void end() { answer(resource_exhausted("too many connections wait for the token of their process")); }

 private:
  void wait() {
    socket_.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](const SocketError& error) {
      if (!error) self->read();
    });
  }
  void read() {
    Packet packet;
    switch (receive_packet(socket_.native_handle(), packet)) {
      case Receipt::Packet: return answer(std::move(packet));
      case Receipt::End: return answer(unavailable("the peer refuses to share memory"));
      case Receipt::Nothing: return wait();
    }
  }
  void answer(Result<Packet> result) {
    const auto done = std::exchange(done_, nullptr);
    if (!done) return;
    timer_.cancel();
    Descriptor socket(socket_.release());
    done(std::move(result), std::move(socket));
  }

  stream_descriptor socket_;
  asio::steady_timer timer_;
  Done done_;
};

/// Accepts connections at a Unix socket while the Listener lives. Its pending operation keeps it alive.
class SharedNetwork::Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<Shared> shared, Descriptor socket, Accept accept)
      : shared_(std::move(shared)), socket_(shared_->io, socket.release()), pause_(shared_->io),
        accept_(std::move(accept)) {}

  void start() {
    socket_.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](const SocketError& error) {
      if (error || !self->accept_) return;
      self->accept_one() ? self->start() : self->start_later();
    });
  }
  void close() {
    shared_->socket_name.clear();
    shared_->offers.clear();
    accept_ = nullptr;
    SocketError ignored;
    socket_.close(ignored);
    pause_.cancel();
    shared_->greetings.end_all();
  }

 private:
  /// Returns false if the system refuses.
  bool accept_one() {
    auto accepted = accept_locally(socket_.native_handle());
    if (!accepted) return false;
    if (!*accepted || !check_same_user(accepted->number()).ok()) return true;
    const auto greeting = std::make_shared<Greeting>(shared_->io, std::move(*accepted));
    const auto one = shared_->greetings.add([weak = std::weak_ptr(greeting)] {
      if (const auto oldest = weak.lock()) oldest->end();
    });
    greeting->start(std::chrono::steady_clock::now() + patience,
                    [self = shared_from_this(), one](Result<Packet> packet, Descriptor socket) {
                      self->shared_->greetings.remove(one);
                      if (packet && self->accept_) self->admit(*packet, std::move(socket));
                    });
    return true;
  }
  /// Accepting failed, most likely because file descriptors have run out: ends the oldest greeting and tries again soon.
  void start_later() {
    shared_->greetings.end_oldest();
    pause_.expires_after(std::chrono::milliseconds(10));
    pause_.async_wait([self = shared_from_this()](const SocketError& error) {
      if (!error && self->accept_) self->start();
    });
  }
  /// Closes the socket of a process whose packet is no token of an offer.
  void admit(const Packet& packet, Descriptor socket) {
    const auto offer = shared_->offers.take(packet.bytes());
    if (!offer) return;
    auto rings = SharedRings::make();
    const std::byte greeting{};
    if (!rings || !send_packet(socket.number(), {&greeting, 1}, rings->second.number()).ok()) return;
    auto made = shared_->open(std::move(socket), std::move(rings->first), 0, offer->proven_task);
    if (made) accept_(std::move(*made));
  }

  const std::shared_ptr<Shared> shared_;
  stream_descriptor socket_;
  asio::steady_timer pause_;
  Accept accept_;
};

SharedNetwork::SharedNetwork(asio::io_context& io, std::unique_ptr<Network> others,
                             std::shared_ptr<SharedArenas> arenas)
    : shared_(std::make_shared<Shared>(io, std::move(arenas))), others_(std::move(others)) {}
SharedNetwork::~SharedNetwork() = default;

std::string SharedNetwork::offered_transport() const { return "shared memory"; }

std::string SharedNetwork::place() const { return shared_->place; }

void SharedNetwork::connect(const std::string& endpoint, int64_t deadline, Connected connected) {
  others_->connect(endpoint, deadline, std::move(connected));
}

/// If the Unix socket cannot be made, the node makes no offers.
Result<std::unique_ptr<Network::Listener>> SharedNetwork::listen(const std::string& endpoint, Accept accept) {
  class BothListener final : public Listener {
   public:
    BothListener(std::unique_ptr<Listener> others, std::shared_ptr<Acceptor> acceptor)
        : others_(std::move(others)), acceptor_(std::move(acceptor)) {}
    ~BothListener() override { acceptor_->close(); }
    const std::string& endpoint() const override { return others_->endpoint(); }

   private:
    const std::unique_ptr<Listener> others_;
    const std::shared_ptr<Acceptor> acceptor_;
  };
  TROUPE_ASSIGN(auto others, others_->listen(endpoint, accept));
  const std::string name = "troupe-" + hexadecimal(random_bytes(Offers::token_bytes));
  auto socket = listen_locally(name);
  if (!socket) return others;
  shared_->socket_name = name;
  auto acceptor = std::make_shared<Acceptor>(shared_, std::move(*socket), std::move(accept));
  acceptor->start();
  return std::unique_ptr<Listener>(std::make_unique<BothListener>(std::move(others), std::move(acceptor)));
}

std::optional<TransportOffer> SharedNetwork::make_offer(const std::optional<std::string>& proven_task) {
  if (shared_->socket_name.empty()) return std::nullopt;
  return TransportOffer{shared_->socket_name, shared_->offers.add(proven_task)};
}

void SharedNetwork::accept_offer(const TransportOffer& offer, const std::optional<std::string>& proven_task,
                                 int64_t deadline, Connected connected) {
  auto socket = connect_locally(offer.address);
  const auto token = std::as_bytes(std::span(offer.token));
  Status status = socket.status();
  if (status.ok() && token.size() != Offers::token_bytes)
    status = invalid_argument("the token of an offer of shared memory has " + std::to_string(token.size()) +
                              " bytes");
  if (status.ok()) status = send_packet(socket->number(), token);
  if (!status.ok()) return asio::post(shared_->io, [connected, status] { connected(status); });
  const auto opened = [shared = shared_, proven_task, connected](Result<Packet> packet, Descriptor peer) {
    if (!packet) return connected(packet.status());
    auto rings = SharedRings::map(packet->descriptor.number());
    if (!rings) return connected(rings.status());
    connected(shared->open(std::move(peer), std::move(*rings), 1, proven_task));
  };
  std::make_shared<Greeting>(shared_->io, std::move(*socket))
      ->start(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)), opened);
}

std::shared_ptr<Polled> SharedNetwork::streams() const { return shared_->streams; }

}  // namespace troupe
