// Certificates: an authority, and what it certifies, as files in a folder that goes with it. One thread.
#pragma once

#include <chrono>
#include <string>

#include "actors/net/certificates.h"
#include "actors/net/cluster.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test {

class Certificates {
 public:
  using Time = std::chrono::seconds;
  static constexpr Time hour{3600};

  TlsFiles of(const std::string& task, Time valid = 24 * hour, Time begin = -hour) {
    return files(value_or_throw(make_certificate(authority_, task, valid, begin)));
  }
  /// Of one who trusts this authority, and is not certified by it.
  TlsFiles of_another_authority(const std::string& task) {
    return files(value_or_throw(
        make_certificate(value_or_throw(make_authority("other", 24 * hour)), task, 24 * hour, -hour)));
  }

 private:
  TlsFiles files(const KeyPair& pair) {
    const std::string name = "node" + std::to_string(++count_);
    return {folder_.write(name + ".pem", pair.certificate), folder_.write(name + ".key", pair.key), trusted_};
  }

  const TemporaryFolder folder_;
  const KeyPair authority_ = value_or_throw(make_authority("test", 24 * hour));
  const std::string trusted_ = folder_.write("authority.pem", authority_.certificate);
  int count_ = 0;
};

}  // namespace troupe::test
