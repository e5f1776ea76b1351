// The connections of an HttpServer, over TCP, TLS or sockets in the file system. Included by http_server.cpp alone. Each connection
// belongs to the thread of the server that has accepted it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "apps/http/gzip.h"
#include "apps/http/http_server.h"
#include "apps/http/request_body.h"

namespace troupe::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
/// Handlers run on the thread of the context without a type-erased executor.
using Executor = asio::io_context::executor_type;
/// The stream of a TCP connection or of a socket in the file system.
using PlainStream = beast::basic_stream<asio::generic::stream_protocol, Executor>;
using TlsStream = beast::ssl_stream<PlainStream>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

constexpr uint64_t max_header_bytes = 16 << 10;
/// How long a client may go on sending when its connection is closed.
constexpr auto linger = std::chrono::seconds(5);

/// What ends when the server stops: a connection that waits for a request, or whose answer has no other end.
class Idle {
 public:
  virtual ~Idle() = default;
  /// Closes the connection unless a request is in progress whose answer will end. Any thread.
  virtual void close_if_idle() = 0;
};

/// What the connections of a server share.
class Shared {
 public:
  explicit Shared(const HttpOptions& given)
      : options(given), bodies(std::max(given.max_bodies, given.max_body)) {}

  /// Returns false if there are too many connections.
  bool enter(const std::shared_ptr<Idle>& connection) {
    const std::lock_guard guard(mutex_);
    if (connections_.size() >= options.max_connections) return false;
    connections_.emplace(connection.get(), connection);
    return true;
  }
  void leave(const Idle* connection) {
    const std::lock_guard guard(mutex_);
    connections_.erase(connection);
    if (connections_.empty()) empty_.notify_all();
  }
  size_t connections() const {
    const std::lock_guard guard(mutex_);
    return connections_.size();
  }
  /// Closes idle connections, and waits until the others have ended.
  void stop(std::chrono::nanoseconds patience) {
    stopping = true;
    std::unique_lock lock(mutex_);
    std::vector<std::shared_ptr<Idle>> open;
    for (const auto& [address, connection] : connections_)
      if (auto kept = connection.lock()) open.push_back(std::move(kept));
    lock.unlock();
    for (const auto& connection : open) connection->close_if_idle();
    open.clear();
    lock.lock();
    empty_.wait_for(lock, patience, [&] { return connections_.empty(); });
  }

  const HttpOptions options;
  BodyBudget bodies;
  std::optional<asio::ssl::context> tls;
  std::atomic<bool> stopping{false};

 private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::map<const Idle*, std::weak_ptr<Idle>> connections_;
};

/// A connection of a client: reads a request, has it answered, writes the answer, and so on. It keeps itself alive while something
/// is in progress; the thread that has accepted it carries everything out.
template <class Stream>
class Connection final : public Idle, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, std::shared_ptr<Shared> shared, const HttpHandler& handler)
      : stream_(std::move(stream)), timer_(stream_.get_executor()), shared_(std::move(shared)),
        handler_(handler) {}
  ~Connection() override { shared_->leave(this); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Called first, on the thread of the connection.
  void begin() {
    if (!shared_->enter(this->shared_from_this())) return;
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      lowest().expires_after(shared_->options.idle_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code error) {
                                if (!error) self->read();
                              });
    } else {
      read();
    }
  }

  void close_if_idle() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->more_)
        self->timer_.cancel();  // the last part follows
      else if (!self->busy_)
        self->lowest().cancel();
    });
  }

 private:
  auto& lowest() { return beast::get_lowest_layer(stream_); }

  void read() {
    busy_ = false;
    if (shared_->stopping) return close();
    parser_.emplace();
    parser_->get().body().count_in(shared_->bodies);
    parser_->body_limit(shared_->options.max_body);
    parser_->header_limit(max_header_bytes);
    lowest().expires_after(shared_->options.idle_timeout);
    beast::http::async_read_header(
        stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code error, size_t) {
          // Where the body of such a request ends is not known, and what follows must not be taken for another request.
          const std::string coding(self->parser_->get()[beast::http::field::transfer_encoding]);
          if (!error && !coding.empty() && !beast::iequals(coding, "chunked"))
            return self->refuse(
                501, "the request has the Transfer-Encoding '" + coding + "'; it must be chunked, or none");
          if (error || self->parser_->is_done()) return self->has_read(error);
          const std::string encoding(self->parser_->get()[beast::http::field::content_encoding]);
          if (is_gzip(encoding))
            self->parser_->get().body().decompress(self->shared_->options.max_body);
          else if (!encoding.empty() && !beast::iequals(encoding, "identity"))
            return self->refuse_encoding(encoding);
          if (beast::iequals(self->parser_->get()[beast::http::field::expect], "100-continue"))
            return self->invite();
          self->read_body();
        });
  }

  /// Tells a client that waits for permission that it may send the body.
  void invite() {
    invitation_ = {beast::http::status::continue_, 11};
    beast::http::async_write(stream_, invitation_,
                             [self = this->shared_from_this()](error_code error, size_t) {
                               if (!error) self->read_body();
                             });
  }

  /// Beast reads at most as many bytes at once as the buffer has room for.
  void read_body() {
    constexpr uint64_t most = 64 << 10;
    buffer_.reserve(std::min(parser_->content_length_remaining().value_or(most), most));
    beast::http::async_read(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code error, size_t) {
                              self->buffer_.shrink_to_fit();
                              self->has_read(error);
                            });
  }

  void has_read(error_code error) {
    wants_head_ = parser_->get().method() == beast::http::verb::head;
    const CountedBytes& body = parser_->get().body();
    if (error == beast::http::error::body_limit)
      return refuse(413, "the body has more than " + std::to_string(shared_->options.max_body) + " bytes" +
                             (body.is_compressed() ? " when it is decompressed" : ""));
    if (error == boost::system::errc::bad_message && body.is_compressed())
      return refuse(400,
                    "the body is no gzip, as its Content-Encoding says, or it is damaged: " + body.damage());
    if (error == boost::system::errc::not_enough_memory)
      return refuse(503, "the requests in progress leave no room for this one: together they may have " +
                             std::to_string(shared_->bodies.limit()) + " bytes");
    if (error == beast::http::error::end_of_stream) return close();
    if (error && error.category() == beast::http::make_error_code(beast::http::error::bad_method).category())
      return refuse(400, "the request is not HTTP: " + error.message());
    if (error) return;  // the client has gone or is too slow, or the server stops
    busy_ = true;
    lowest().expires_never();
    auto& message = parser_->get();
    keeps_alive_ = message.keep_alive();
    takes_gzip_ = accepts_gzip(std::string(message[beast::http::field::accept_encoding]));
    const auto method = wants_head_ ? to_string(beast::http::verb::get) : message.method_string();
    const auto header = [&](auto name) { return std::string(message[name]); };
    HttpRequest request{std::string(method),
                        path_of(message.target()),
                        header(beast::http::field::host),
                        message.body().release(),
                        header(beast::http::field::authorization),
                        header(beast::http::field::origin),
                        header(json_length_header)};
    handle(std::move(request));
  }

  /// Returns the path of a target, which a client may send behind a scheme and a host (RFC 9112, section 3.2.2).
  static std::string path_of(beast::string_view target) {
    const std::string whole(target);
    const size_t scheme = whole.starts_with("http://") ? 7 : whole.starts_with("https://") ? 8 : 0;
    if (scheme == 0) return whole;
    const size_t path = whole.find_first_of("/?", scheme);
    if (path == std::string::npos) return "/";
    return (whole[path] == '?' ? "/" : "") + whole.substr(path);
  }

  void handle(HttpRequest&& request) try {
    handler_(std::move(request), [self = this->shared_from_this(), gzip = takes_gzip_](HttpAnswer answer) {
      compress(answer, gzip);
      asio::post(self->stream_.get_executor(),
                 [self, answer = std::move(answer)]() mutable { self->answer(std::move(answer)); });
    });
  } catch (const std::exception& error) {
    refuse(500, error.what());
  }

  void refuse(unsigned status, const std::string& why) { refuse(error_answer(status, why)); }
  void refuse(HttpAnswer refused) {
    keeps_alive_ = false;
    answer(std::move(refused));
  }
  void refuse_encoding(const std::string& encoding) {
    HttpAnswer refused = error_answer(
        415, "the body has the Content-Encoding '" + encoding + "'; it must be gzip, or identity: none");
    refused.headers.emplace_back("Accept-Encoding", "gzip, identity");
    refuse(std::move(refused));
  }

  void answer(HttpAnswer answer) {
    parser_.reset();  // the request counts no longer
    if (answer.more)
      begin_stream(std::move(answer));
    else
      write(std::move(answer));
  }

  void set_head(auto& message, const HttpAnswer& answer) {
    message = {};
    message.version(11);
    message.result(answer.status);
    message.set(beast::http::field::content_type, answer.content_type);
    for (const auto& [name, value] : answer.headers) message.insert(name, value);  // some occur twice
    message.keep_alive(keeps_alive_ && !shared_->stopping && !answer.more);
  }

  /// Begins an answer that goes on until the client goes or the server stops.
  void begin_stream(HttpAnswer answer) {
    set_head(head_, answer);
    head_.chunked(true);
    head_writer_.emplace(head_);
    if (!wants_head_) more_ = std::move(answer.more);
    interval_ = answer.interval;
    lowest().expires_after(shared_->options.idle_timeout);
    beast::http::async_write_header(stream_, *head_writer_,
                                    [self = this->shared_from_this()](error_code error, size_t) {
                                      if (error) return;
                                      self->wants_head_ ? self->close() : self->write_more();
                                    });
  }

  /// Writes the next part, which is the last one if the server stops.
  void write_more() {
    const bool is_last = shared_->stopping;
    part_ = more_();
    if (part_.empty()) return is_last ? end_stream() : await_more();
    lowest().expires_after(shared_->options.idle_timeout);
    asio::async_write(stream_, beast::http::make_chunk(asio::buffer(part_)),
                      [self = this->shared_from_this(), is_last](error_code error, size_t) {
                        if (error) return;
                        is_last ? self->end_stream() : self->await_more();
                      });
  }

  void end_stream() {
    asio::async_write(stream_, beast::http::make_chunk_last(),
                      [self = this->shared_from_this()](error_code, size_t) { self->close(); });
  }

  void await_more() {
    if (shared_->stopping) return write_more();
    timer_.expires_after(std::chrono::duration_cast<Timer::duration>(interval_));
    timer_.async_wait([self = this->shared_from_this()](error_code) { self->write_more(); });
  }

  void write(HttpAnswer answer) {
    set_head(message_, answer);
    message_.body() = std::move(answer.body);
    message_.prepare_payload();
    if (wants_head_) message_.body().clear();  // the headers still say how long it is
    lowest().expires_after(shared_->options.idle_timeout);
    beast::http::async_write(stream_, message_, [self = this->shared_from_this()](error_code error, size_t) {
      if (error) return;
      const bool stays = self->message_.keep_alive();
      self->drop_answer();
      if (stays)
        self->read();
      else
        self->close();
    });
  }

  /// Gives back the memory of an answer, which may be large: the next request may come late or never.
  void drop_answer() {
    std::string none;
    message_.body().swap(none);  // assigning an empty string would keep the memory
  }

  void close() {
    busy_ = false;
    error_code ignored;
    lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
    if (shared_->stopping) return;
    lowest().expires_after(linger);
    drain();
  }

  /// Reads what the client still sends, until it closes the connection: otherwise the system would tell it of a reset, and it might
  /// never see the answer to a request that was too large.
  void drain() {
    lowest().async_read_some(asio::buffer(drained_),
                             [self = this->shared_from_this()](error_code error, size_t) {
                               if (!error) self->drain();
                             });
  }

  Stream stream_;
  Timer timer_;  ///< until the next part of an answer without end
  const std::shared_ptr<Shared> shared_;
  const HttpHandler& handler_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<RequestBody>> parser_;
  beast::http::response<beast::http::string_body> message_;
  beast::http::response<beast::http::empty_body> invitation_;
  /// Of an answer without end: its head, what yields its parts, how often, and the part that is being written.
  beast::http::response<beast::http::empty_body> head_;
  std::optional<beast::http::response_serializer<beast::http::empty_body>> head_writer_;
  std::function<std::string()> more_;
  std::chrono::nanoseconds interval_{};
  std::string part_;
  std::array<char, 4096> drained_{};
  bool keeps_alive_ = true;
  bool busy_ = false;        ///< a request is in progress
  bool takes_gzip_ = false;  ///< the client of the request in progress takes answers of gzip
  bool wants_head_ = false;  ///< the request is HEAD: the answer is the one to GET, without its body
};

}  // namespace troupe::http
