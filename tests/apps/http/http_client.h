// Client: a connection to an HTTP server on this machine, for tests. Failures are thrown. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace troupe::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

struct Answer {
  unsigned status = 0;
  std::string body;
  http::fields headers;
  nlohmann::json json() const { return nlohmann::json::parse(body); }
};

/// A connection to a server.
template <class Stream>
class Client {
 public:
  /// Makes a client that is not connected yet.
  Client() : stream_(context_) {}
  template <class... More>
  explicit Client(uint16_t port, More&... more) : stream_(context_, more...) {
    connect(port);
  }

  void connect(uint16_t port) {
    beast::get_lowest_layer(stream_).connect({asio::ip::make_address("127.0.0.1"), port});
  }

  Stream& stream() { return stream_; }
  /// All requests from now on have this header.
  void set(http::field name, const std::string& value) { headers_.set(name, value); }
  void set(const char* name, const std::string& value) { headers_.set(name, value); }
  Answer ask(http::verb method, const std::string& target, const std::string& body = {}) {
    send(method, target, body);
    return read();
  }
  void send(http::verb method, const std::string& target, const std::string& body = {}) {
    http::request<http::string_body> request(headers_);
    request.method(method);
    request.target(target);
    request.set(http::field::host, "localhost");
    request.body() = body;
    request.prepare_payload();
    http::write(stream_, request);
  }
  Answer read() {
    http::response<http::string_body> response;
    http::read(stream_, buffer_, response);
    return {response.result_int(), response.body(), response.base()};
  }
  /// Returns the headers of the answer to HEAD.
  http::response_header<> head(const std::string& target) {
    send(http::verb::head, target);
    http::response_parser<http::empty_body> parser;
    parser.skip(true);  // no body follows
    http::read(stream_, buffer_, parser);
    return parser.get().base();
  }
  Answer get(const std::string& target) { return ask(http::verb::get, target); }
  Answer post(const std::string& target, const std::string& body) {
    return ask(http::verb::post, target, body);
  }

 private:
  asio::io_context context_;
  Stream stream_;
  beast::flat_buffer buffer_;
  http::request_header<> headers_;
};

}  // namespace troupe::test
