// S3Options: which store of objects holds the paths "s3://BUCKET/KEY", and who asks it. The store is Amazon S3 or a server with
// the same interface. Plain values; whoever has them keeps the secrets out of texts. Public header: it uses only std.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#pragma GCC visibility push(default)
namespace troupe {

struct S3Options {
  /// "http://store.lab:9000", to whose path buckets are added; empty: Amazon's, by the region
  std::string endpoint;
  std::string region = "us-east-1";
  std::string key_id, secret_key;  ///< of the access key; both empty: requests are not signed
  std::string session_token;       ///< of a temporary key; empty: none

  /// Larger files are uploaded in parts of this size. Amazon needs at least 5 MiB.
  size_t part_bytes = 16 << 20;
  /// How often a request is tried when the store does not answer, or answers that it cannot now.
  int attempts = 6;
  /// Before the second attempt. Each pause is about twice as long as the one before.
  std::chrono::milliseconds first_pause{200};
  std::chrono::milliseconds request_timeout{120'000};  ///< of one attempt
  std::chrono::milliseconds silence_timeout{15'000};   ///< of one attempt during which nothing moves
};

}  // namespace troupe
#pragma GCC visibility pop
