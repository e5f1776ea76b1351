// Certificates for trying a cluster out: an authority of its own, and one certificate per task. What `troupe certs` writes; a site
// with an authority issues its own, with the task as the subject alternative name (actors/net/tls.h). P-256 keys.
#pragma once

#include <chrono>
#include <string>

#include "messages/values/status.h"

namespace troupe {

/// PEM texts.
struct KeyPair {
  std::string certificate, key;
};

Result<KeyPair> make_authority(const std::string& cluster, std::chrono::seconds valid);
/// Of a task, signed by the authority; valid from `begin`, relative to now. Of no task, "", it is good for clients only.
Result<KeyPair> make_certificate(const KeyPair& authority, const std::string& task,
                                 std::chrono::seconds valid, std::chrono::seconds begin = {});

}  // namespace troupe
