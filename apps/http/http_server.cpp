#include "apps/http/http_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <exception>
#include <list>
#include <new>
#include <optional>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <nlohmann/json.hpp>

#include "actors/net/transport/certificate_files.h"
#include "apps/http/http_connection.h"
#include "apps/http/open_files.h"
#include "apps/http/socket_path.h"
#include "messages/values/json_text.h"

namespace troupe::http {
namespace {

using asio::ip::tcp;

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
    thread_ = std::thread([this] { serve(); });
  }
  /// Nothing of this thread runs any more afterwards.
  void stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void serve() noexcept {
    for (;;) try {
        context_.run();
        return;
      } catch (const std::exception&) {
        // Such as when there is no memory. The connection concerned ended with the function that failed.
      }
  }

  const HttpHandler handler_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::thread thread_;
};

Status load_tls(const HttpOptions& options, std::optional<asio::ssl::context>& tls) {
  if (options.certificate.empty()) return {};
  TROUPE_RETURN_IF_FAILED(check_pair(options.certificate, options.key));
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
  ~State() {
    if (local) ::unlink(local_path->text().c_str());
  }

  /// Opens the port. Returns the failure of the system.
  error_code open(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor.emplace(workers.front().context());
    acceptor->open(endpoint.protocol(), error);
    if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor->bind(endpoint, error);
    if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
    if (!error) keep_from_children(*acceptor);
    return error;
  }

  /// Opens the socket in the file system, for this user alone, in place of one that is there. Returns the failure of the system.
  error_code open(SocketPath path) {
    error_code error;
    local_path.emplace(std::move(path));
    ::unlink(local_path->text().c_str());
    local.emplace(workers.front().context());
    local->open(asio::local::stream_protocol(), error);
    if (!error) ::fchmod(local->native_handle(), S_IRUSR | S_IWUSR);  // the file gets the mode of the socket
    if (!error) local->bind({local_path->text()}, error);
    if (!error) local->listen(asio::socket_base::max_listen_connections, error);
    if (!error) keep_from_children(*local);
    return error;
  }

  Status listen(const std::string& where, uint16_t port) {
    error_code error;
    const auto address = asio::ip::make_address(where == "localhost" ? "127.0.0.1" : where, error);
    if (error) return invalid_argument("'" + where + "' is not an IP address");
    if (error = open(tcp::endpoint(address, port)); error)
      return unavailable("cannot listen on " + where + ':' + std::to_string(port) + ": " + error.message());
    accept(*acceptor);
    return {};
  }
  Status listen(const std::string& socket) {
    TROUPE_ASSIGN(auto path, SocketPath::of(socket));
    if (const error_code error = open(std::move(path)); error)
      return unavailable("cannot listen at " + socket + ": " + error.message());
    accept(*local);
    return {};
  }

  static void keep_from_children(auto& socket) { ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC); }

  /// Accepts connections, on the thread of the first worker, for all workers in turn.
  template <class Acceptor>
  void accept(Acceptor& from) {
    Worker& worker = *std::next(workers.begin(), static_cast<std::ptrdiff_t>(accepted++ % workers.size()));
    using Socket = typename Acceptor::protocol_type::socket::template rebind_executor<Executor>::other;
    from.async_accept(worker.context(), [this, &from, &worker](error_code error, Socket socket) {
      if (shared->stopping) return;
      if (error || !hand_over(std::move(socket), worker)) return accept_later(from);
      accept(from);
    });
  }

  /// Has a worker serve a connection. Returns false, with the connection closed, if there is no memory for it.
  template <class Socket>
  bool hand_over(Socket accepted_socket, Worker& worker) try {
    asio::post(worker.context(), [this, &worker, socket = std::move(accepted_socket)]() mutable {
      keep_from_children(socket);
      begin(std::move(socket), worker);
    });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  /// Waits before it accepts again: the connection that could not be accepted, such as for want of descriptors, is still there.
  template <class Acceptor>
  void accept_later(Acceptor& from) {
    pause.emplace(from.get_executor(), std::chrono::milliseconds(100));
    pause->async_wait([this, &from](error_code) {
      if (!shared->stopping) accept(from);
    });
  }

  template <class Socket>
  void begin(Socket socket, Worker& worker) const {
    error_code ignored;
    if constexpr (std::is_same_v<typename Socket::protocol_type, tcp>)
      socket.set_option(tcp::no_delay(true), ignored);
    PlainStream stream(std::move(socket));
    if (shared->tls)
      begin_on(TlsStream(std::move(stream), *shared->tls), worker);
    else
      begin_on(std::move(stream), worker);
  }
  template <class Stream>
  void begin_on(Stream stream, Worker& worker) const {
    std::make_shared<Connection<Stream>>(std::move(stream), shared, worker.handler())->begin();
  }

  std::shared_ptr<Shared> shared;
  std::list<Worker> workers;
  std::optional<tcp::acceptor> acceptor;
  std::optional<SocketPath> local_path;
  std::optional<asio::local::stream_protocol::acceptor> local;
  std::optional<asio::steady_timer> pause;
  size_t accepted = 0;
};

std::string path_of(const std::string& target) {
  std::string path;
  const std::string_view encoded = std::string_view(target).substr(0, target.find('?'));
  for (size_t i = 0; i < encoded.size(); ++i) {
    uint8_t byte = 0;
    const auto digits = encoded.substr(i, 3);
    const bool is_byte =
        digits.size() == 3 && digits[0] == '%' &&
        std::from_chars(digits.data() + 1, digits.data() + 3, byte, 16).ptr == digits.data() + 3;
    path += is_byte ? static_cast<char>(byte) : encoded[i];
    if (is_byte) i += 2;
  }
  return path;
}

HttpAnswer error_answer(unsigned status, const std::string& why) {
  return {status, json_line({{"error", why}}) + '\n'};
}

HttpAnswer wrong_method(const std::string& method, const std::string& expected) {
  HttpAnswer answer = error_answer(405, "the method must be " + expected + ", it is " + method);
  answer.headers.emplace_back("Allow", expected == "GET" ? "GET, HEAD" : expected);
  return answer;
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      const std::function<HttpHandler()>& make_handler) {
  HttpOptions allowed = options;
  allowed.max_connections = connections_within_limit(options.max_connections);
  auto state = std::make_unique<State>(allowed);
  TROUPE_RETURN_IF_FAILED(load_tls(options, state->shared->tls));
  for (size_t i = 0; i < options.threads; ++i) state->workers.emplace_back(make_handler());
  TROUPE_RETURN_IF_FAILED(options.socket.empty() ? state->listen(options.address, options.port)
                                                 : state->listen(options.socket));
  for (Worker& worker : state->workers) worker.start();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() { stop({}); }

uint16_t HttpServer::port() const { return state_->acceptor ? state_->acceptor->local_endpoint().port() : 0; }
size_t HttpServer::connections() const { return state_->shared->connections(); }

void HttpServer::stop(std::chrono::nanoseconds patience) {
  state_->shared->stop(patience);
  for (Worker& worker : state_->workers) worker.stop();
}

}  // namespace troupe::http
