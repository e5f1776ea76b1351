// HttpServer: serves HTTP/1.1 on a TCP port, with or without TLS, or at a socket in the file system. Each of its threads serves a
// part of the connections. Limits protect it: of the size of a request and of all requests, of idle and slow connections, and of
// the number of connections. Where memory ends, a connection ends, and no other. The owner starts and stops it; handlers run on
// its threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "messages/values/status.h"

namespace troupe::http {

/// The header of HttpRequest::json_length; answers have it, too.
inline constexpr const char* json_length_header = "Inference-Header-Content-Length";

struct HttpRequest {
  /// "GET", "POST", ...; "GET", too, for a request with HEAD, of whose answer the server leaves out the body.
  std::string method;
  std::string target;  ///< the path, with the query if there is one
  std::string host;    ///< the name under which the client has asked for the server
  std::string body;
  std::string authorization;  ///< the header of this name; empty if it is missing
  std::string origin;  ///< the site of the page that sends the request, as a browser says it; empty: none
  /// How many bytes of the body are JSON, before others, as json_length_header says; empty if it is missing.
  std::string json_length;
};

struct HttpAnswer {
  unsigned status = 200;
  std::string body;
  const char* content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// If not empty, the answer has no body, but goes on: what this function returns is sent once per interval, and a last time when
  /// the server stops. Called on the thread of the connection.
  std::function<std::string()> more = {};
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
};

/// Returns the path of a target, without its query. %XX in it become the bytes that they stand for.
std::string path_of(const std::string& target);
/// Returns {"error": why}.
HttpAnswer error_answer(unsigned status, const std::string& why);
/// Returns the answer to a request whose method is not the expected one, which its header Allow names. Where GET is, HEAD is, too.
HttpAnswer wrong_method(const std::string& method, const std::string& expected);

/// Sends the answer. Called exactly once, from any thread.
using HttpReply = std::function<void(HttpAnswer)>;
/// Answers a request, at once or later. Called on a thread of the server, which it must not block. A request whose handler throws
/// a std::exception instead is answered with status 500 and the text of the exception.
using HttpHandler = std::function<void(HttpRequest, HttpReply)>;

struct HttpOptions {
  /// The path of a socket for the processes of this user; empty: a TCP port. The file is removed with the server.
  std::string socket;
  std::string address = "127.0.0.1";  ///< an IP address, or "localhost"
  uint16_t port = 0;                  ///< 0: any free one
  size_t threads = 1;
  size_t max_connections = 10'000;         ///< fewer if so many files may not be open (open_files.h)
  uint64_t max_body = uint64_t{64} << 20;  ///< in bytes
  /// The bytes of all requests that are being read or answered; at least max_body. A request beyond it is answered with status 503.
  uint64_t max_bodies = uint64_t{512} << 20;
  /// The longest time between two requests of a connection, and for reading or writing one.
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(60);
  /// The PEM files of a certificate and its key. Empty: no TLS.
  std::string certificate, key;
};

class HttpServer {
 public:
  /// Begins to serve. `make_handler` is called once for each thread. Fails with Unavailable, naming address and port, if the port
  /// is taken or the address is not one of this machine, and with InvalidArgument for a bad address or
  /// certificate.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options,
                                                   const std::function<HttpHandler()>& make_handler);
  /// Ends as stop() does, without waiting.
  ~HttpServer();

  uint16_t port() const;  ///< 0 for a socket in the file system
  size_t connections() const;
  /// Accepts no more connections and requests, and waits until those in progress are answered, at most for the time given. Handlers
  /// are not called any more afterwards. Their replies may still come; the server must exist until then.
  void stop(std::chrono::nanoseconds patience);

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace troupe::http
