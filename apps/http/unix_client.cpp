#include "apps/http/unix_client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "apps/http/socket_path.h"

namespace troupe::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr uint64_t max_answer = uint64_t{64} << 20;  // in bytes

/// A request on its way. Used by one thread.
class Exchange {
 public:
  Exchange(const std::string& method, const std::string& target) : stream_(context_) {
    request_.method_string(method);
    request_.target(target);
    request_.version(11);
    request_.set(beast::http::field::host, "localhost");
    request_.prepare_payload();
    parser_.body_limit(max_answer);
  }

  error_code run(const std::string& path, std::chrono::nanoseconds timeout, const std::atomic<bool>* stop) {
    constexpr auto tick = std::chrono::milliseconds(50);
    error_code error;
    stream_.socket().connect({path}, error);
    if (error) return error;
    stream_.expires_after(timeout);
    beast::http::async_write(stream_, request_, [&](error_code failure, size_t) {
      error = failure;
      if (failure) return;
      beast::http::async_read(stream_, buffer_, parser_, [&](error_code end, size_t) { error = end; });
    });
    while (!context_.stopped()) {
      if (stop && *stop) return asio::error::operation_aborted;
      context_.run_for(tick);
    }
    return error;
  }
  HttpAnswer answer() { return {parser_.get().result_int(), std::move(parser_.get().body())}; }

 private:
  asio::io_context context_{1};
  beast::basic_stream<asio::local::stream_protocol> stream_;
  beast::http::request<beast::http::empty_body> request_;
  beast::http::response_parser<beast::http::string_body> parser_;
  beast::flat_buffer buffer_;
};

}  // namespace

Result<HttpAnswer> ask(const std::string& socket, const std::string& method, const std::string& target,
                       std::chrono::nanoseconds timeout, const std::atomic<bool>* stop) {
  TROUPE_ASSIGN(const auto path, SocketPath::of(socket));
  Exchange exchange(method, target);
  const error_code error = exchange.run(path.text(), timeout, stop);
  if (!error) return exchange.answer();
  const std::string text = socket + ": " + error.message();
  if (error == boost::system::errc::no_such_file_or_directory ||
      error == boost::system::errc::connection_refused)
    return not_found("nothing listens at " + text);
  if (error == asio::error::operation_aborted) return Status(Code::Cancelled, "not waited for " + text);
  if (error == boost::system::errc::permission_denied) return Status(Code::PermissionDenied, text);
  if (error == beast::error::timeout) return deadline_exceeded("no answer from " + text);
  return unavailable(text);
}

}  // namespace troupe::http
