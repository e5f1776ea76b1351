#include "tests/support/net/s3_server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <boost/beast.hpp>

#include "messages/values/crc32c.h"
#include "tests/support/net/s3_signature.h"

namespace troupe::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

std::string etag_of(const std::string& content) { return '"' + std::to_string(crc32c(content)) + '"'; }

Response error(http::status status, const std::string& code) {
  Response response(status, 11);
  response.body() = "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>A &lt;test&gt; of " +
                    code + "</Message></Error>";
  return response;
}

Response answer(std::string body = {}) {
  Response response(http::status::ok, 11);
  response.body() = std::move(body);
  return response;
}

/// The path and the query of a request.
struct Target {
  explicit Target(std::string_view target) {
    const size_t mark = target.find('?');
    path = url_decoded(target.substr(1, mark == std::string_view::npos ? mark : mark - 1));
    for (const auto& [name, value] : query_of(target)) query[url_decoded(name)] = url_decoded(value);
  }
  const std::string* find(const std::string& name) const {
    const auto at = query.find(name);
    return at == query.end() ? nullptr : &at->second;
  }
  std::string path;  ///< "BUCKET/KEY"
  std::map<std::string, std::string> query;
};

struct Upload {
  std::string path;
  std::map<int, std::string> parts;
};

}  // namespace

struct S3Server::Impl {
  Impl() : acceptor(io, {asio::ip::make_address("127.0.0.1"), 0}) {
    accepting = std::thread([this] { accept(); });
  }
  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
      boost::system::error_code ignored;
      acceptor.close(ignored);
      for (auto& socket : sockets) socket.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    }
    changed.notify_all();
    // A blocking accept() does not notice that its acceptor is closed.
    asio::ip::tcp::socket last(io);
    boost::system::error_code ignored;
    last.connect({asio::ip::make_address("127.0.0.1"), port}, ignored);
    accepting.join();
    for (auto& thread : threads) thread.join();
  }

  void accept() {
    for (;;) {
      asio::ip::tcp::socket socket(io);
      boost::system::error_code failure;
      acceptor.accept(socket, failure);
      const std::lock_guard lock(mutex);
      if (failure || ending) return;
      sockets.push_back(std::move(socket));
      threads.emplace_back([this, &own = sockets.back()] { serve(own); });
    }
  }

  void serve(asio::ip::tcp::socket& socket) {
    boost::beast::flat_buffer buffer;
    boost::system::error_code failure;
    while (!failure) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(uint64_t{1} << 30);
      http::read(socket, buffer, parser, failure);
      if (failure) break;
      const Request& request = parser.get();
      const auto fails = take_failure(request);
      if (fails == Failure::Silent) wait_for_end();
      if (fails == Failure::Silent || fails == Failure::Unanswered) break;
      Response response = fails == Failure::Unavailable ? error(http::status::service_unavailable, "SlowDown")
                                                        : handle(request);
      const auto length = response.body().size();
      if (request.method() == http::verb::head && response.result() != http::status::ok)
        response.body().clear();
      response.prepare_payload();
      if (fails == Failure::AnswerLost) break;
      if (request.method() == http::verb::head) {
        http::response<http::empty_body> head(response.base());
        head.content_length(length);
        http::response_serializer<http::empty_body> serializer(head);
        http::write_header(socket, serializer, failure);
      } else {
        http::write(socket, response, failure);
      }
    }
    socket.shutdown(asio::ip::tcp::socket::shutdown_both, failure);
  }

  std::optional<Failure> take_failure(const Request& request) {
    const std::lock_guard lock(mutex);
    ++requests;
    if (where && where(text_of(request.method_string()), text_of(request.target()))) return failure_where;
    if (failures.empty()) return {};
    const Failure first = failures.front();
    failures.pop_front();
    return first;
  }

  void wait_for_end() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ending; });
  }

  Response handle(const Request& request) {
    std::map<std::string, std::string> headers;
    for (const auto& field : request) {
      std::string name = text_of(field.name_string());
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      headers[name] = text_of(field.value());
    }
    const std::string method = text_of(request.method_string()), target = text_of(request.target());
    if (const std::string problem = signature_problem(method, target, headers, credentials); !problem.empty())
      return error(http::status::forbidden, problem);
    const std::lock_guard lock(mutex);
    const Target to(target);
    if (to.path != "lab" && !to.path.starts_with("lab/"))
      return error(http::status::not_found, "NoSuchBucket");
    switch (request.method()) {
      case http::verb::put: return put(request, to);
      case http::verb::post: return post(request, to);
      case http::verb::delete_: return erase(to);
      case http::verb::head:
      case http::verb::get: return to.find("list-type") ? list(to) : get(to, headers);
      default: return error(http::status::method_not_allowed, "MethodNotAllowed");
    }
  }

  Response put(const Request& request, const Target& to) {
    const std::string* const upload = to.find("uploadId");
    if (upload && !uploads.contains(*upload)) return error(http::status::not_found, "NoSuchUpload");
    if (upload)
      uploads[*upload].parts[std::stoi(*to.find("partNumber"))] = request.body();
    else
      objects[to.path] = request.body();
    Response response = answer();
    response.set(http::field::etag, etag_of(request.body()));
    return response;
  }

  Response post(const Request& request, const Target& to) {
    if (to.find("uploads")) {
      const std::string id = "upload=" + std::to_string(++last_upload) + "/&";
      uploads[id] = {to.path, {}};
      return answer("<InitiateMultipartUploadResult><UploadId>upload=" + std::to_string(last_upload) +
                    "/&amp;</UploadId></InitiateMultipartUploadResult>");
    }
    const auto at = uploads.find(to.find("uploadId") ? *to.find("uploadId") : "");
    if (at == uploads.end()) return error(http::status::not_found, "NoSuchUpload");
    std::string content;
    for (const auto& [number, part] : at->second.parts) {
      if (request.body().find("<PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" +
                              etag_of(part)) == std::string::npos)
        return error(http::status::bad_request, "InvalidPart");
      content += part;
    }
    objects[to.path] = content;
    uploads.erase(at);
    return answer("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
  }

  Response erase(const Target& to) {
    if (const std::string* const upload = to.find("uploadId"))
      uploads.erase(*upload);
    else
      objects.erase(to.path);
    return Response(http::status::no_content, 11);
  }

  Response get(const Target& to, std::map<std::string, std::string>& headers) {
    const auto at = objects.find(to.path);
    if (at == objects.end()) return error(http::status::not_found, "NoSuchKey");
    Response response = answer(at->second);
    if (headers.contains("if-match") && headers["if-match"] != etag_of(at->second))
      return error(http::status::precondition_failed, "PreconditionFailed");
    response.set(http::field::etag, etag_of(at->second));
    if (!headers.contains("range")) return response;
    const std::string range = headers["range"].substr(std::string_view("bytes=").size());
    const size_t first = std::stoull(range), last = std::stoull(range.substr(range.find('-') + 1));
    if (first >= at->second.size()) return error(http::status::range_not_satisfiable, "InvalidRange");
    response.result(http::status::partial_content);
    response.body() = at->second.substr(first, last - first + 1);
    return response;
  }

  Response list(const Target& to) {
    const std::string prefix = *to.find("prefix"),
                      after = to.find("continuation-token") ? *to.find("continuation-token") : "";
    std::map<std::string, bool> found;  // by name: whether it is a common prefix
    for (const auto& [path, content] : objects) {
      const std::string key = path.substr(std::string_view("lab/").size());
      if (!key.starts_with(prefix)) continue;
      const size_t slash = key.find('/', prefix.size());
      found.emplace(key.substr(0, slash == std::string::npos ? slash : slash + 1),
                    slash != std::string::npos);
    }
    size_t count = 0;
    const size_t limit = to.find("max-keys") ? std::stoull(*to.find("max-keys")) : page;
    std::string text = "<ListBucketResult>", last = limit == 0 ? "itself" : "";
    for (auto at = found.upper_bound(after); at != found.end(); ++at) {
      if (count++ == limit) {
        text += "<NextContinuationToken>" + last + "</NextContinuationToken>";
        break;
      }
      last = at->first;
      const std::string name = url_encoded(at->first);
      text += at->second ? "<CommonPrefixes><Prefix>" + name + "</Prefix></CommonPrefixes>"
                         : "<Contents><Key>" + name + "</Key></Contents>";
    }
    return answer(text + "</ListBucketResult>");
  }

  const S3Credentials credentials{"KEYID", "secret+/key", "token/1=", "eu-test-1"};
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor;
  const uint16_t port = acceptor.local_endpoint().port();
  std::thread accepting;

  mutable std::mutex mutex;  ///< guards the members below
  std::condition_variable changed;
  bool ending = false;
  std::list<asio::ip::tcp::socket> sockets;
  std::list<std::thread> threads;
  std::deque<Failure> failures;
  Failure failure_where = Failure::Unavailable;
  std::function<bool(std::string_view, std::string_view)> where;
  std::map<std::string, std::string> objects;
  std::map<std::string, Upload> uploads;
  size_t requests = 0, page = 1000;
  int last_upload = 0;
};

S3Server::S3Server() : impl_(std::make_unique<Impl>()) {}
S3Server::~S3Server() = default;

S3Options S3Server::options() const {
  S3Options options;
  options.endpoint = "http://127.0.0.1:" + std::to_string(impl_->port);
  options.region = impl_->credentials.region;
  options.key_id = impl_->credentials.key_id;
  options.secret_key = impl_->credentials.secret;
  options.session_token = impl_->credentials.token;
  options.part_bytes = 1000;
  options.attempts = 4;
  options.first_pause = std::chrono::milliseconds(1);
  options.request_timeout = std::chrono::seconds(20);
  return options;
}

void S3Server::fail(std::deque<Failure> failures) {
  const std::lock_guard lock(impl_->mutex);
  impl_->failures = std::move(failures);
}

void S3Server::fail_where(Failure failure,
                          std::function<bool(std::string_view method, std::string_view target)> where) {
  const std::lock_guard lock(impl_->mutex);
  impl_->failure_where = failure;
  impl_->where = std::move(where);
}

std::map<std::string, std::string> S3Server::objects() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->objects;
}

void S3Server::put(const std::string& path, std::string content) {
  const std::lock_guard lock(impl_->mutex);
  impl_->objects[path] = std::move(content);
}

void S3Server::remove(const std::string& path) {
  const std::lock_guard lock(impl_->mutex);
  impl_->objects.erase(path);
}

size_t S3Server::open_uploads() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->uploads.size();
}

size_t S3Server::requests() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

void S3Server::set_page(size_t objects) {
  const std::lock_guard lock(impl_->mutex);
  impl_->page = objects;
}

}  // namespace troupe::test
