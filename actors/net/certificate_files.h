// Certificate files: whether what a cluster file names as certificate, key and authority can be used, said in sentences before any
// connection is made. Any thread; reads the files each time.
#pragma once

#include <string>

#include "actors/net/cluster.h"
#include "messages/values/status.h"

namespace troupe {

/// Ok when all three can be read and the key belongs to the certificate; InvalidArgument names the file and what is wrong with it.
Status check_usable(const TlsFiles& files);
/// Ok when a cluster of that authority will take the certificate now. InvalidArgument: it has expired, is not valid yet, or is not
/// signed by the authority.
Status check_valid(const TlsFiles& files);
/// What is wrong with a certificate, by OpenSSL's result of verifying it: "has expired", as a sentence goes on that names it.
std::string complaint_of(long verify_result);

}  // namespace troupe
