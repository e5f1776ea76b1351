// S3Client: requests to a store of objects over HTTP, signed by libcurl with AWS Signature Version 4. A request that fails in
// passing (no answer, a broken connection, HTTP 429 or 5xx) is tried again after a pause; every attempt has a deadline. Failures
// name the object, the request, the status of HTTP and the message of the store, but no secrets. Calls block, so only file
// threads may make them; any number of threads at the same time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "messages/objects/s3_options.h"
#include "messages/values/status.h"

namespace troupe {

inline constexpr std::string_view s3_scheme = "s3://";

/// The place of an object, or of those whose keys begin with `key`.
struct S3Place {
  std::string bucket, key;

  /// Reads "s3://BUCKET/KEY"; an ending '/' is left out. Fails with InvalidArgument if the path has no bucket.
  static Result<S3Place> parse(const std::string& path);
  std::string text() const { return std::string(s3_scheme) + bucket + '/' + key; }
};

struct S3Request {
  std::string method;
  S3Place place;
  std::map<std::string, std::string> query = {};
  std::vector<std::string> headers = {};  ///< "Range: bytes=0-9"
  std::span<const std::byte> body = {};
  size_t max_answer = size_t{16} << 20;  ///< the most bytes of the answer's body
};

struct S3Answer {
  long status = 0;
  std::string body, etag;
  uint64_t length = 0;  ///< of the object, in the answer to a HEAD
};

class S3Client {
 public:
  explicit S3Client(S3Options options);
  ~S3Client();
  S3Client(const S3Client&) = delete;
  S3Client& operator=(const S3Client&) = delete;

  const S3Options& options() const { return options_; }
  /// Fails with NotFound, PermissionDenied, InvalidArgument or FailedPrecondition as the store answers, with Unavailable when no
  /// attempt has succeeded, and with Cancelled after stop().
  Result<S3Answer> send(const S3Request& request);
  /// Ends all requests. Any thread.
  void stop();

 private:
  struct Connection;
  struct Attempt;

  Attempt try_once(const S3Request& request);
  std::string url_of(const S3Request& request) const;
  std::unique_ptr<Connection> take_connection();
  /// Waits before the attempt after this number of attempts. Returns false after stop().
  bool pause(int attempts);

  const S3Options options_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::minstd_rand random_;
};

}  // namespace troupe
