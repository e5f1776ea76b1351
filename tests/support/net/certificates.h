// Certificates: a certificate authority, and certificates signed by it, as files in a temporary folder. One thread.
#pragma once

#include <chrono>
#include <string>

#include "actors/cluster.h"
#include "actors/net/transport/certificates.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test {

class Certificates {
 public:
  using Time = std::chrono::seconds;
  static constexpr Time hour{3600};

  TlsFiles of(const std::string& task, Time valid = 24 * hour, Time begin = -hour) {
    return files(value_or_throw(make_certificate(authority_, task, valid, begin)));
  }
  /// Returns files of a node that trusts this authority, but has a certificate of another one.
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
