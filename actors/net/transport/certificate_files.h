// Certificate files: checks the certificate, key and authority that a cluster file names before any connection is made, so that an
// error names the file and its problem. Each call reads the files. May be called from any thread that may block.
#pragma once

#include <string>

#include "actors/cluster.h"
#include "messages/values/status.h"

namespace troupe {

/// Checks that a certificate and its key can be read and belong to each other. InvalidArgument names the file and its problem.
Status check_pair(const std::string& certificate, const std::string& key);
/// Checks that all three files can be read and that the key belongs to the certificate. InvalidArgument names the file and its
/// problem.
Status check_usable(const TlsFiles& files);
/// Checks also that the certificate is valid now and signed by the authority. Fails with InvalidArgument otherwise.
Status check_valid(const TlsFiles& files);
/// Returns what is wrong with a certificate, given OpenSSL's verification result: "has expired", for example. The caller's sentence
/// names the certificate.
std::string complaint_of(long verify_result);

}  // namespace troupe
