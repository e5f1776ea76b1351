// Certificates for trying out a cluster: an authority and one certificate per task, with P-256 keys. `troupe certs` writes them. A
// site that has its own authority issues certificates itself, with the task as the subject alternative name (transport/tls.h).
#pragma once

#include <chrono>
#include <string>

#include "messages/values/status.h"

namespace troupe {

/// A certificate and its private key, in PEM form.
struct KeyPair {
  std::string certificate, key;
};

/// Makes the authority of a cluster, valid for `valid` from now on.
Result<KeyPair> make_authority(const std::string& cluster, std::chrono::seconds valid);
/// Makes the certificate of a task, signed by the authority. It becomes valid at `begin`, relative to now, for the duration
/// `valid`. If `task` is empty the certificate names no task, and only a client can use it.
Result<KeyPair> make_certificate(const KeyPair& authority, const std::string& task,
                                 std::chrono::seconds valid, std::chrono::seconds begin = {});

}  // namespace troupe
