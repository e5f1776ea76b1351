// TcpStream: a stream of frames over one socket, plain or TLS. For tcp_network.cpp only.
#pragma once

#include <utility>  // Boost.Asio 1.74 wants it first

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "actors/net/transport/tls.h"
#include "actors/net/transport/tls_failure.h"
#include "messages/env/network.h"

namespace troupe {

using SocketError = boost::system::error_code;
using PlainSocket = boost::asio::ip::tcp::socket;
using TlsSocket = boost::asio::ssl::stream<PlainSocket>;

inline Status socket_failure(const std::string& peer, const boost::system::error_code& error) {
  return unavailable(peer + ": " + error.message());
}

/// A stream is kept alive by its pending operations, so that frames are still sent after its Connection has been destroyed.
template <class Socket>
class TcpStream : public std::enable_shared_from_this<TcpStream<Socket>> {
  /// The most that one operation reads or writes.
  static constexpr size_t max_per_operation = 256 << 10;
  /// The size of the read buffer before and after welcome().
  static constexpr size_t initial_buffer_bytes = 4 << 10, buffer_bytes = 64 << 10;
  /// If the decoder wants at least this much, the bytes are read directly into its memory.
  static constexpr size_t direct_bytes = 16 << 10;
  static constexpr bool is_tls = std::is_same_v<Socket, TlsSocket>;

 public:
  TcpStream(Socket socket, std::string peer, int64_t farewell)
      : socket_(std::move(socket)), peer_(std::move(peer)), farewell_(farewell),
        timer_(socket_.get_executor()) {}

  Socket& socket() { return socket_; }
  const std::string& peer() const { return peer_; }
  size_t unsent() const { return unsent_; }
  /// `call` is called once: when the peer is welcome or the stream has ended.
  void on_settled(std::function<void()> call) { settled_ = std::move(call); }

  /// With TLS, performs the handshake. Must be the first operation.
  void shake_hands(boost::asio::ssl::stream_base::handshake_type side, int64_t timeout,
                   std::function<void(Status)> done) {
    if constexpr (is_tls) {
      timer_.expires_after(std::chrono::nanoseconds(timeout));
      timer_.async_wait([self = this->shared_from_this()](const SocketError& error) {
        if (!error) self->close();
      });
      socket_.async_handshake(
          side, [self = this->shared_from_this(), side, done = std::move(done)](const SocketError& error) {
            self->timer_.cancel();
            if (!error) return done({});
            const bool plain = side == boost::asio::ssl::stream_base::server && is_plain_peer(error);
            const Status status = self->failure(error);
            if (plain)
              self->refuse(failed_precondition("this node speaks TLS, but the node that connected does not"));
            else
              self->close();
            done(status);
          });
    } else {
      done({});
    }
  }

  void start(Connection::Events& events, Allocator& memory, const FrameLimits& limits) {
    events_ = &events;
    decoder_.emplace(memory, limits);
    read();
  }
  void welcome(const FrameLimits& limits) {
    decoder_->set_limits(limits);
    welcome_ = true;
    settle();
  }
  void send(EncodedFrame frame) {
    if (failed_) return;
    unsent_ += frame.bytes();
    queue_.push_back(std::move(frame));
    if (!writing_) write();
  }
  /// Called when the Connection is destroyed: the stream sends the frames in its queue for at most `farewell` nanoseconds, then
  /// closes.
  void release() {
    events_ = nullptr;
    settle();
    if (!writing_ || failed_) return close();
    timer_.expires_after(std::chrono::nanoseconds(farewell_));
    timer_.async_wait([self = this->shared_from_this()](const SocketError& error) {
      if (!error) self->close();
    });
  }
  /// Closes at once with this reason.
  void abort(const Status& reason) {
    close();
    fail(reason);
  }

 private:
  // Writing. The next byte to write is at `offset_` of piece number `piece_` of the first frame in the queue.

  void write() {
    writing_ = true;
    gather();
    socket_.async_write_some(buffers_,
                             [self = this->shared_from_this()](const SocketError& error, size_t written) {
                               self->written(error, written);
                             });
  }

  void gather() {
    buffers_.clear();
    size_t piece = piece_, offset = offset_, total = 0;
    for (const EncodedFrame& frame : queue_) {
      for (; piece < frame.pieces().size() && buffers_.size() < 64 && total < max_per_operation; ++piece) {
        const auto rest = frame.pieces()[piece].subspan(offset);
        const size_t count = std::min(rest.size(), max_per_operation - total);
        buffers_.emplace_back(rest.data(), count);
        total += count;
        offset = 0;
      }
      if (piece < frame.pieces().size()) break;
      piece = 0;
    }
    if constexpr (is_tls) join_small();
  }

  /// TLS writes one buffer at a time, so small pieces are copied into one buffer, which becomes one record.
  void join_small() {
    if (buffers_.size() < 2 || buffers_[0].size() >= direct_bytes) return;
    record_.resize(direct_bytes);
    size_t filled = 0;
    for (const auto& buffer : buffers_) {
      const size_t count = std::min(buffer.size(), record_.size() - filled);
      std::memcpy(record_.data() + filled, buffer.data(), count);
      filled += count;
    }
    buffers_.assign(1, boost::asio::const_buffer(record_.data(), filled));
  }

  void written(const SocketError& error, size_t count) {
    writing_ = false;
    if (error) return fail(failure(error));
    unsent_ -= count;
    offset_ += count;
    while (!queue_.empty()) {
      const auto pieces = queue_.front().pieces();
      for (; piece_ < pieces.size() && offset_ >= pieces[piece_].size(); ++piece_)
        offset_ -= pieces[piece_].size();
      if (piece_ < pieces.size()) break;
      queue_.pop_front();
      piece_ = 0;
    }
    if (!queue_.empty()) return write();
    if (!events_) close();
  }

  // Reading: directly into the memory of the arriving tensor if much of it is missing, otherwise through the buffer.

  void read() {
    if (welcome_) buffer_.resize(buffer_bytes);
    const auto wanted = decoder_->wanted();
    direct_ = wanted.size() >= direct_bytes ? wanted.first(std::min(wanted.size(), max_per_operation))
                                            : wanted.first(0);
    const std::array<boost::asio::mutable_buffer, 2> into = {
        boost::asio::buffer(direct_.data(), direct_.size()), boost::asio::buffer(buffer_)};
    socket_.async_read_some(into, [self = this->shared_from_this()](const SocketError& error, size_t count) {
      self->has_read(error, count);
    });
  }

  void has_read(const SocketError& error, size_t count) {
    if (!events_) return;
    if (error) {
      const bool ended =
          error == boost::asio::error::eof || error == boost::asio::ssl::error::stream_truncated;
      return fail(ended ? Status{} : failure(error));
    }
    if (!is_tls && !welcome_ &&
        is_handshake(std::span(buffer_).first(count - std::min(count, direct_.size())))) {
      const Status status = failed_precondition(peer_ + " speaks TLS, but this node does not");
      refuse(status);
      if (Connection::Events* const events = std::exchange(events_, nullptr)) events->closed(status);
      return;
    }
    const size_t direct = std::min(count, direct_.size());
    if (direct != 0 && !advance(direct)) return;
    for (std::span<const std::byte> rest(buffer_.data(), count - direct); !rest.empty();) {
      const auto wanted = decoder_->wanted();
      const size_t some = std::min(wanted.size(), rest.size());
      std::memcpy(wanted.data(), rest.data(), some);
      rest = rest.subspan(some);
      if (!advance(some)) return;
    }
    events_->receiving();
    read();
  }

  /// Tells the decoder that `count` bytes have arrived. Returns false if the stream has ended or has no receiver any more.
  bool advance(size_t count) {
    if (Status status = decoder_->advance(count); !status.ok()) {
      fail(status);
      return false;
    }
    if (auto frame = decoder_->take()) events_->received(std::move(*frame));
    return events_ != nullptr;
  }

  // The end.

  Status failure(const SocketError& error) {
    if constexpr (is_tls)
      return tls_failure(peer_, error, socket_.native_handle());
    else
      return socket_failure(peer_, error);
  }

  /// Whether these are the first bytes of a TLS handshake. No frame begins with them.
  static bool is_handshake(std::span<const std::byte> bytes) {
    return bytes.size() >= 2 && bytes[0] == std::byte{22} && bytes[1] == std::byte{3};
  }

  /// Sends a plain Goodbye frame, which a peer of either kind can read: this node does not accept the peer's kind of connection.
  /// Closes when the frame is written, or as release() says.
  void refuse(const Status& reason) {
    writing_ = true;
    auto last = goodbye(reason);
    if (!last) return close();
    const auto frame = std::make_shared<EncodedFrame>(std::move(*last));
    std::vector<boost::asio::const_buffer> pieces;
    for (const auto piece : frame->pieces()) pieces.emplace_back(piece.data(), piece.size());
    boost::asio::async_write(
        plain_socket(), pieces,
        [self = this->shared_from_this(), frame](const SocketError&, size_t) { self->close(); });
  }
  PlainSocket& plain_socket() {
    if constexpr (is_tls)
      return socket_.next_layer();
    else
      return socket_;
  }

  void fail(const Status& reason) {
    failed_ = true;
    queue_.clear();
    unsent_ = 0;
    if (Connection::Events* const events = std::exchange(events_, nullptr)) events->closed(reason);
    close();
  }

  void settle() {
    if (const auto call = std::exchange(settled_, nullptr)) call();
  }

  void close() {
    settle();
    timer_.cancel();
    SocketError ignored;
    socket_.lowest_layer().shutdown(boost::asio::socket_base::shutdown_both, ignored);
    socket_.lowest_layer().close(ignored);
  }

  Socket socket_;
  const std::string peer_;
  const int64_t farewell_;
  boost::asio::steady_timer timer_;
  Connection::Events* events_ = nullptr;
  std::function<void()> settled_;
  std::optional<FrameDecoder> decoder_;
  std::deque<EncodedFrame> queue_;
  size_t piece_ = 0, offset_ = 0, unsent_ = 0;
  bool welcome_ = false, writing_ = false, failed_ = false;
  std::vector<boost::asio::const_buffer> buffers_;
  std::span<std::byte> direct_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(initial_buffer_bytes);
  std::vector<std::byte> record_;  ///< small pieces, joined for TLS
};

}  // namespace troupe
