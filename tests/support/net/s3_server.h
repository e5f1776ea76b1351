// S3Server: a small store of objects with the interface of Amazon S3, in this process, for tests: PUT, GET with Range and
// If-Match, HEAD, DELETE, listing by prefix with pages, and uploads in parts. It verifies the signature of every request, and
// fails on request. Any thread may call its functions.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "messages/objects/s3_options.h"

namespace troupe::test {

class S3Server {
 public:
  enum class Failure {
    Unavailable,  ///< answers with 503 SlowDown and does nothing else
    Unanswered,   ///< closes the connection without an answer
    AnswerLost,   ///< does what is asked, then closes the connection within the answer
    Silent,       ///< does not answer until the server ends
  };

  /// With one bucket, "lab".
  S3Server();
  ~S3Server();

  /// Options for requests that the server accepts, with short pauses and parts.
  S3Options options() const;
  /// The next requests, whatever they ask for, fail in these ways.
  void fail(std::deque<Failure> failures);
  /// From now on each request for which this returns true fails in this way.
  void fail_where(Failure failure,
                  std::function<bool(std::string_view method, std::string_view target)> where);

  std::map<std::string, std::string> objects() const;  ///< their contents, by "BUCKET/KEY"
  void put(const std::string& path, std::string content);
  void remove(const std::string& path);
  size_t open_uploads() const;
  size_t requests() const;
  /// How many objects a page of a listing has at most. 0: a page without objects is followed by itself, without an end.
  void set_page(size_t objects);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::test
