// The stream of frames over one socket, plain or TLS: what a TcpNetwork's connections are made of. Not for others.
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

#include "actors/net/tls.h"
#include "actors/net/tls_failure.h"
#include "messages/env/network.h"

namespace troupe {

using SocketError = boost::system::error_code;
using PlainSocket = boost::asio::ip::tcp::socket;
using TlsSocket = boost::asio::ssl::stream<PlainSocket>;

inline Status socket_failure(const std::string& peer, const boost::system::error_code& error) {
  return unavailable(peer + ": " + error.message());
}

/// Kept alive by its own pending operations, so that what was sent goes out after its Connection is gone.
template <class Socket>
class TcpStream : public std::enable_shared_from_this<TcpStream<Socket>> {
  static constexpr size_t max_a_turn = 256 << 10;
  static constexpr size_t stranger_bytes = 4 << 10,
                          buffer_bytes = 64 << 10;  ///< read at once, before and after the welcome
  static constexpr size_t direct_bytes = 16 << 10;  ///< so much wanted is read without the buffer between
  static constexpr bool is_tls = std::is_same_v<Socket, TlsSocket>;

 public:
  TcpStream(Socket socket, std::string peer, int64_t farewell)
      : socket_(std::move(socket)), peer_(std::move(peer)), farewell_(farewell),
        timer_(socket_.get_executor()) {}

  Socket& socket() { return socket_; }
  const std::string& peer() const { return peer_; }
  size_t unsent() const { return unsent_; }
  /// Called once: when the peer is welcome, or the stream has ended.
  void on_settled(std::function<void()> call) { settled_ = std::move(call); }

  /// TLS, where there is TLS; first of all.
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
              self->refuse(failed_precondition("this node speaks TLS, the one that called it does not"));
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
  /// The Connection is gone: what was sent has until the farewell to go out.
  void release() {
    events_ = nullptr;
    settle();
    if (!writing_ || failed_) return close();
    timer_.expires_after(std::chrono::nanoseconds(farewell_));
    timer_.async_wait([self = this->shared_from_this()](const SocketError& error) {
      if (!error) self->close();
    });
  }
  /// At once, as when the peer does.
  void abort(const Status& reason) {
    close();
    fail(reason);
  }

 private:
  // Writing: pieces of the frames in the queue, from `piece_` and `offset_` of the first one on.

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
      for (; piece < frame.pieces().size() && buffers_.size() < 64 && total < max_a_turn; ++piece) {
        const auto rest = frame.pieces()[piece].subspan(offset);
        const size_t count = std::min(rest.size(), max_a_turn - total);
        buffers_.emplace_back(rest.data(), count);
        total += count;
        offset = 0;
      }
      if (piece < frame.pieces().size()) break;
      piece = 0;
    }
    if constexpr (is_tls) join_small();
  }

  /// TLS takes one buffer at a time: small pieces are copied together, for a record of their own.
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

  // Reading: into the tensor that is arriving where much of it is missing, else by way of the buffer.

  void read() {
    if (welcome_) buffer_.resize(buffer_bytes);
    const auto wanted = decoder_->wanted();
    direct_ =
        wanted.size() >= direct_bytes ? wanted.first(std::min(wanted.size(), max_a_turn)) : wanted.first(0);
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
      const Status status = failed_precondition(peer_ + " speaks TLS, this node does not");
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
    read();
  }

  /// False when there is nothing more to read.
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

  /// Whether these are the first bytes of a TLS handshake; a frame begins otherwise.
  static bool is_handshake(std::span<const std::byte> bytes) {
    return bytes.size() >= 2 && bytes[0] == std::byte{22} && bytes[1] == std::byte{3};
  }

  /// Says goodbye in plain bytes, which tell either kind of peer that its kind of connection is not taken here, and closes once that
  /// is written, or as release() says.
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
  std::vector<std::byte> buffer_ = std::vector<std::byte>(stranger_bytes);
  std::vector<std::byte> record_;  ///< small pieces on their way by TLS
};

}  // namespace troupe
