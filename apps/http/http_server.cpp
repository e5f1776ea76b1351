#include "apps/http/http_server.h"

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

namespace troupe::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

constexpr uint64_t max_header_bytes = 16 << 10;

/// What ends when the server stops: a connection that waits for a request.
class Idle {
 public:
  virtual ~Idle() = default;
  /// Closes the connection unless a request is in progress. Any thread.
  virtual void close_if_idle() = 0;
};

/// What the connections of a server share.
class Shared {
 public:
  explicit Shared(const HttpOptions& given) : options(given) {}

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
      : stream_(std::move(stream)), shared_(std::move(shared)), handler_(handler) {}
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
      if (!self->busy_) self->lowest().cancel();
    });
  }

 private:
  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void read() {
    busy_ = false;
    if (shared_->stopping) return close();
    parser_.emplace();
    parser_->body_limit(shared_->options.max_body);
    parser_->header_limit(max_header_bytes);
    lowest().expires_after(shared_->options.idle_timeout);
    beast::http::async_read_header(
        stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code error, size_t) {
          if (error || self->parser_->is_done()) return self->has_read(error);
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

  void read_body() {
    beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](error_code error, size_t) { self->has_read(error); });
  }

  void has_read(error_code error) {
    if (error == beast::http::error::body_limit)
      return refuse(413, "the body has more than " + std::to_string(shared_->options.max_body) + " bytes");
    if (error == beast::http::error::end_of_stream) return close();
    if (error && error.category() == beast::http::make_error_code(beast::http::error::bad_method).category())
      return refuse(400, "the request is not HTTP: " + error.message());
    if (error) return;  // the client has gone or is too slow, or the server stops
    busy_ = true;
    lowest().expires_never();
    auto& message = parser_->get();
    keeps_alive_ = message.keep_alive();
    HttpRequest request{std::string(message.method_string()), std::string(message.target()),
                        std::move(message.body())};
    handler_(std::move(request), [self = this->shared_from_this()](HttpAnswer answer) {
      asio::post(self->stream_.get_executor(),
                 [self, answer = std::move(answer)]() mutable { self->write(std::move(answer)); });
    });
  }

  void refuse(unsigned status, const std::string& why) {
    keeps_alive_ = false;
    write({status, "{\"error\":\"" + why + "\"}"});
  }

  void write(HttpAnswer answer) {
    message_ = {};
    message_.version(11);
    message_.result(answer.status);
    message_.set(beast::http::field::content_type, answer.content_type);
    message_.keep_alive(keeps_alive_ && !shared_->stopping);
    message_.body() = std::move(answer.body);
    message_.prepare_payload();
    lowest().expires_after(shared_->options.idle_timeout);
    beast::http::async_write(stream_, message_, [self = this->shared_from_this()](error_code error, size_t) {
      if (error) return;
      if (self->message_.keep_alive())
        self->read();
      else
        self->close();
    });
  }

  void close() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  Stream stream_;
  const std::shared_ptr<Shared> shared_;
  const HttpHandler& handler_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  beast::http::response<beast::http::string_body> message_;
  beast::http::response<beast::http::empty_body> invitation_;
  bool keeps_alive_ = true;
  bool busy_ = false;  ///< a request is in progress
};

/// A thread and the connections that it serves.
class Worker {
 public:
  explicit Worker(HttpHandler handler) : handler_(std::move(handler)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  asio::io_context& context() { return context_; }
  const HttpHandler& handler() const { return handler_; }
  void start() {
    thread_ = std::thread([this] { context_.run(); });
  }
  /// Nothing of this thread runs any more afterwards.
  void stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  const HttpHandler handler_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::thread thread_;
};

Status load_tls(const HttpOptions& options, std::optional<asio::ssl::context>& tls) {
  if (options.certificate.empty()) return {};
  error_code error;
  tls.emplace(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1);
  tls->use_certificate_chain_file(options.certificate, error);
  if (error) return invalid_argument("certificate " + options.certificate + ": " + error.message());
  tls->use_private_key_file(options.key, asio::ssl::context::pem, error);
  if (error) return invalid_argument("key " + options.key + ": " + error.message());
  return {};
}

}  // namespace

struct HttpServer::State {
  explicit State(const HttpOptions& options) : shared(std::make_shared<Shared>(options)) {}

  /// Opens the port. Returns the failure of the system.
  error_code open(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor.emplace(workers.front().context());
    acceptor->open(endpoint.protocol(), error);
    if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor->bind(endpoint, error);
    if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  /// Accepts connections, on the thread of the first worker, for all workers in turn.
  void accept() {
    Worker& worker = *std::next(workers.begin(), static_cast<std::ptrdiff_t>(accepted++ % workers.size()));
    acceptor->async_accept(worker.context(), [this, &worker](error_code error, tcp::socket socket) {
      if (shared->stopping) return;
      if (!error)
        asio::post(worker.context(), [this, &worker, socket = std::move(socket)]() mutable {
          begin(std::move(socket), worker);
        });
      accept();
    });
  }

  void begin(tcp::socket socket, Worker& worker) const {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    beast::tcp_stream stream(std::move(socket));
    if (shared->tls)
      std::make_shared<Connection<TlsStream>>(TlsStream(std::move(stream), *shared->tls), shared,
                                              worker.handler())
          ->begin();
    else
      std::make_shared<Connection<beast::tcp_stream>>(std::move(stream), shared, worker.handler())->begin();
  }

  std::shared_ptr<Shared> shared;
  std::list<Worker> workers;
  std::optional<tcp::acceptor> acceptor;
  size_t accepted = 0;
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      const std::function<HttpHandler()>& make_handler) {
  auto state = std::make_unique<State>(options);
  TROUPE_RETURN_IF_FAILED(load_tls(options, state->shared->tls));
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return invalid_argument("'" + options.address + "' is not an IP address");
  for (size_t i = 0; i < options.threads; ++i) state->workers.emplace_back(make_handler());
  if (error = state->open({address, options.port}); error)
    return unavailable("cannot listen on " + options.address + ':' + std::to_string(options.port) + ": " +
                       error.message());
  state->accept();
  for (Worker& worker : state->workers) worker.start();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() { stop({}); }

uint16_t HttpServer::port() const { return state_->acceptor->local_endpoint().port(); }
size_t HttpServer::connections() const { return state_->shared->connections(); }

void HttpServer::stop(std::chrono::nanoseconds patience) {
  state_->shared->stop(patience);
  for (Worker& worker : state_->workers) worker.stop();
}

}  // namespace troupe::http
