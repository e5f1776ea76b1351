// Compares a link with bare sockets: round trips and bulk transfers of frames over TCP and TLS, and the same over bare sockets
// and a bare SSL stream, in alternation, between two processes. Frames through shared memory, which lend their tensors, are
// compared with plain sockets, once with a receiver that spins and once with one that sleeps, and those through UCX, over TCP and
// through the memory of the host. Prints a table of medians; the
// ratio is the link's result over the bare one's.
//   link_bench [MAX_MIB]       the largest transfer; default 100
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "actors/net/transport/shared_network.h"
#include "actors/net/transport/tcp_network.h"
#include "actors/net/transport/ucx_network.h"
#include "devices/caching_allocator.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/wire/message_reader.h"
#include "tests/support/net/certificates.h"
#include "tests/support/net/listening_socket.h"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;
using test::ListeningSocket;

constexpr size_t turn = 256 << 10;
constexpr int repetitions = 7;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Touches every byte, as both sides do.
uint64_t sum(std::span<const std::byte> bytes) {
  uint64_t total = 0;
  const auto* words = reinterpret_cast<const uint64_t*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / 8; ++i) total += words[i];
  return total;
}

/// An exchange between two processes; created on both sides of a fork.
class Wire {
 public:
  virtual ~Wire() = default;
  /// Called by the client: returns the seconds for a message of the given number of bytes and a small reply.
  virtual double exchange(size_t bytes) = 0;
  /// Called by the server: replies until the client disconnects.
  virtual void serve() = 0;
};

// Bare blocking sockets, with or without SSL.

class BareWire final : public Wire {
 public:
  BareWire(int descriptor, SSL* ssl, size_t max_bytes)
      : descriptor_(descriptor), ssl_(ssl), buffer_(max_bytes + turn) {
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (ssl_) SSL_set_fd(ssl_, descriptor);
  }
  ~BareWire() override { ::close(descriptor_); }

  double exchange(size_t bytes) override {
    sum(std::span(buffer_).first(bytes));
    const auto begin = Clock::now();
    write(&bytes, sizeof bytes);
    write(buffer_.data(), bytes);
    uint64_t answer = 0;
    read(&answer, sizeof answer);
    return seconds_since(begin);
  }
  void serve() override {
    size_t bytes = 0;
    while (read(&bytes, sizeof bytes)) {
      if (!read(buffer_.data(), bytes)) return;
      const uint64_t answer = sum(std::span(buffer_).first(bytes));
      write(&answer, sizeof answer);
    }
  }

 private:
  void write(const void* data, size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const size_t some = std::min(bytes, turn);
      const auto written =
          ssl_ ? SSL_write(ssl_, at, static_cast<int>(some)) : ::write(descriptor_, at, some);
      if (written <= 0) return;
      at += written;
      bytes -= static_cast<size_t>(written);
    }
  }
  bool read(void* data, size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const size_t some = std::min(bytes, turn);
      const auto count = ssl_ ? SSL_read(ssl_, at, static_cast<int>(some)) : ::read(descriptor_, at, some);
      if (count <= 0) return false;
      at += count;
      bytes -= static_cast<size_t>(count);
    }
    return true;
  }

  const int descriptor_;
  SSL* const ssl_;
  std::vector<std::byte> buffer_;
};

// Frames over a Network.

/// A transport that networks offer besides TCP: UCX with these transports of its own (UCX_TLS), or shared memory.
struct Offered {
  const char* name;
  const char* ucx;
  bool spins;  ///< the processes spin before they sleep
};

class FrameWire final : public Wire, private Connection::Events {
 public:
  /// Connects or accepts a connection.
  FrameWire(ListeningSocket& socket, bool is_client, const TcpOptions& options)
      : memory_(Arena::Options{}), network_(value_or_throw(TcpNetwork::make(io_, options))) {
    if (is_client)
      network_->connect(socket.endpoint(), 0, connected());
    else
      listener_ = value_or_throw(
          network_->listen(socket.listen(), [&](auto made) { connection_ = std::move(made); }));
    begin();
  }
  /// Connects or accepts a connection through shared memory or UCX. The server sends its offer over a bare socket.
  FrameWire(ListeningSocket& socket, bool is_client, const Offered& offered)
      : memory_(offered.ucx ? Arena::Options{} : Arena::Options{.shared = arenas_}) {
    make_network(offered);
    const int descriptor =
        is_client ? ::socket(AF_INET, SOCK_STREAM, 0) : ::accept(socket.descriptor, nullptr, nullptr);
    TransportOffer offer;
    if (is_client) {
      if (::connect(descriptor, socket.generic(), sizeof socket.address) != 0) std::abort();
      for (std::string* part : {&offer.address, &offer.token}) {
        size_t bytes = 0;
        if (::recv(descriptor, &bytes, sizeof bytes, MSG_WAITALL) <= 0) std::abort();
        part->resize(bytes);
        if (::recv(descriptor, part->data(), bytes, MSG_WAITALL) <= 0) std::abort();
      }
      network_->accept_offer(offer, {}, Clock::now().time_since_epoch().count() + 5'000'000'000, connected());
    } else {
      listener_ =
          value_or_throw(network_->listen("127.0.0.1:0", [&](auto made) { connection_ = std::move(made); }));
      offer = network_->make_offer({}).value();
      for (const std::string* part : {&offer.address, &offer.token}) {
        const size_t bytes = part->size();
        if (::send(descriptor, &bytes, sizeof bytes, 0) <= 0) std::abort();
        if (::send(descriptor, part->data(), bytes, 0) <= 0) std::abort();
      }
    }
    begin();
    ::close(descriptor);
  }

  double exchange(size_t bytes) override {
    if (!tensor_.valid() || tensor_.bytes() != bytes) {
      tensor_ = value_or_throw(Tensor::allocate(DType::UInt8, Shape{static_cast<int64_t>(bytes)}, memory_));
      std::ranges::fill(tensor_.write<uint8_t>(), uint8_t{1});
    }
    answered_ = false;
    const auto begin = Clock::now();
    send({tensor_});
    while (!answered_ && !closed_) turn_once();
    return seconds_since(begin);
  }
  void serve() override {
    serving_ = true;
    while (!closed_) turn_once();
  }

 private:
  void make_network(const Offered& offered) {
    auto tcp = value_or_throw(TcpNetwork::make(io_, {}));
    if (!offered.ucx) {
      auto shared = std::make_unique<SharedNetwork>(io_, std::move(tcp), arenas_);
      if (offered.spins) streams_ = shared->streams();
      network_ = std::move(shared);
      return;
    }
    ::setenv("UCX_TLS", offered.ucx, 1);
    if (std::string_view(offered.ucx) != "tcp") ::setenv("UCX_MM_ERROR_HANDLING", "y", 1);
    auto ucx = value_or_throw(make_ucx_network(io_, std::move(tcp)));
    if (offered.spins) streams_ = ucx.polled;
    network_ = std::move(ucx.network);
  }
  Network::Connected connected() {
    return [&](auto made) { connection_ = value_or_throw(std::move(made)); };
  }
  void begin() {
    while (!connection_) io_.run_one();
    connection_->start(*this, memory_, {});
  }
  /// Waits for something to happen: as the control thread of a node does, if this side spins.
  void turn_once() {
    const auto end = Clock::now() + std::chrono::microseconds(20);
    while (streams_ && Clock::now() < end)
      if (streams_->poll() || io_.poll_one() != 0) return;
    if (!streams_ || streams_->sleep()) io_.run_one();
  }
  void send(std::vector<Tensor> tensors) {
    connection_->send(
        value_or_throw(encode({.sequence = ++sequence_},
                              Draft<wire::TensorTaken>().finish(std::move(tensors)), connection_->lender())));
  }
  void received(Frame frame) override {
    const auto message = receive<wire::TensorTaken>(frame.words, std::move(frame.attachments));
    if (!serving_) {
      answered_ = message.ok();
      return;
    }
    const uint64_t answer = sum({message->attachments()[0].data(), message->attachments()[0].bytes()});
    send({Tensor::scalar(static_cast<int64_t>(answer))});
  }
  void closed(Status) override { closed_ = true; }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(io_);
  std::shared_ptr<SharedArenas> arenas_ = std::make_shared<SharedArenas>();
  CachingAllocator memory_;
  std::unique_ptr<Network> network_;
  std::shared_ptr<Polled> streams_;  ///< if this side spins
  std::unique_ptr<Network::Listener> listener_;
  std::unique_ptr<Connection> connection_;
  Tensor tensor_;
  uint64_t sequence_ = 0;
  bool serving_ = false, answered_ = false, closed_ = false;
};

// Each exchange has two processes.

struct Pair {
  TlsFiles client, server;
};

using Make = std::function<std::unique_ptr<Wire>(ListeningSocket&, bool is_client)>;

std::unique_ptr<Wire> make_bare(ListeningSocket& socket, bool is_client, const Pair* tls, size_t max_bytes) {
  const int descriptor =
      is_client ? ::socket(AF_INET, SOCK_STREAM, 0) : ::accept(socket.descriptor, nullptr, nullptr);
  if (is_client && ::connect(descriptor, socket.generic(), sizeof socket.address) != 0) std::abort();
  if (!tls) return std::make_unique<BareWire>(descriptor, nullptr, max_bytes);
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  const TlsFiles& files = is_client ? tls->client : tls->server;
  SSL_CTX_use_certificate_file(context, files.certificate.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM);
  SSL* const ssl = SSL_new(context);
  auto wire = std::make_unique<BareWire>(descriptor, ssl, max_bytes);
  if ((is_client ? SSL_connect(ssl) : SSL_accept(ssl)) != 1) std::abort();
  return wire;
}

std::unique_ptr<Wire> make_frames(ListeningSocket& socket, bool is_client, const Pair* tls) {
  TcpOptions options;
  if (tls) options.tls = is_client ? tls->client : tls->server;
  return std::make_unique<FrameWire>(socket, is_client, options);
}

/// A server in its own process, and the client in this one. The child is forked before this process starts any thread.
struct Peer {
  explicit Peer(const Make& make) {
    ListeningSocket socket;
    child = ::fork();
    if (child == 0) {
      make(socket, false)->serve();
      ::_exit(0);
    }
    wire = make(socket, true);
    ::close(socket.descriptor);
  }
  ~Peer() {
    wire.reset();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  pid_t child;
  std::unique_ptr<Wire> wire;
};

void compare(const char* what, const Make& bare, const Make& ours, size_t bytes, int inner) {
  Peer theirs(bare), mine(ours);
  std::vector<double> a, b;
  for (int repetition = 0; repetition < repetitions + 2; ++repetition) {
    const auto run = [&](Wire& wire) {
      std::vector<double> times;
      for (int i = 0; i < inner; ++i) times.push_back(wire.exchange(bytes));
      return median(std::move(times));
    };
    const double one = run(*theirs.wire), other = run(*mine.wire);
    if (repetition < 2) continue;  // these repetitions touch memory for the first time
    a.push_back(one);
    b.push_back(other);
  }
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(b[i] / a[i]);
  if (bytes < 4096)
    std::printf("%-7s round trip %6zu B    bare %8.1f us   link %8.1f us   time ratio %.2f\n", what, bytes,
                median(a) * 1e6, median(b) * 1e6, median(ratios));
  else
    std::printf("%-7s transfer %8zu KiB  bare %8.2f GB/s link %8.2f GB/s rate ratio %.2f\n", what,
                bytes >> 10, static_cast<double>(bytes) / median(a) / 1e9,
                static_cast<double>(bytes) / median(b) / 1e9, 1 / median(ratios));
  std::fflush(stdout);
}

void run(size_t max_bytes) {
  test::Certificates certificates;
  const Pair pair{certificates.of("/job:client/replica:0/task:0"),
                  certificates.of("/job:server/replica:0/task:0")};
  for (const Pair* tls : {static_cast<const Pair*>(nullptr), &pair}) {
    const Make bare = [&](ListeningSocket& socket, bool is_client) {
      return make_bare(socket, is_client, tls, max_bytes);
    };
    const Make ours = [&](ListeningSocket& socket, bool is_client) {
      return make_frames(socket, is_client, tls);
    };
    const char* what = tls ? "tls" : "plain";
    compare(what, bare, ours, 64, 2000);
    for (const size_t kib : {64, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 3 << 20})
      if (const size_t bytes = kib << 10; bytes <= max_bytes)
        compare(what, bare, ours, bytes, kib > (10 << 10) ? 1 : 20);
  }
  std::vector<Offered> all = {{"spins", nullptr, true}, {"sleeps", nullptr, false}};
  if (has_ucx()) all.insert(all.end(), {{"ucx tcp", "tcp", false}, {"ucx mem", "posix", false}});
  for (const Offered& offered : all) {
    const Make bare = [&](ListeningSocket& socket, bool is_client) {
      return make_bare(socket, is_client, nullptr, max_bytes);
    };
    const Make ours = [&](ListeningSocket& socket, bool is_client) {
      return std::make_unique<FrameWire>(socket, is_client, offered);
    };
    compare(offered.name, bare, ours, 64, 2000);
    for (const size_t kib : {16, 32, 64, 256, 1 << 10, 10 << 10, 100 << 10, 1 << 20})
      if (const size_t bytes = kib << 10; bytes <= max_bytes)
        compare(offered.name, bare, ours, bytes, kib > (10 << 10) ? 1 : 20);
  }
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  try {
    troupe::run((argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100) << 20);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "link_bench: %s\n", error.what());
    return 1;
  }
}
