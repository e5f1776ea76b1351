// Certificates for trying out a cluster, as `troupe certs` writes them: DIR/ca.pem and DIR/ca.key of the authority, and
// DIR/JOB-TASK.pem and DIR/JOB-TASK.key of each task. An existing authority is used again, and never replaced. Only
// their owner may read the files. The function changes the umask of the process while it runs: one thread.
#pragma once

#include <string>
#include <vector>

#include "actors/cluster.h"
#include "messages/values/status.h"

namespace troupe::cluster {

/// Writes the certificates of all tasks and of one client into the folder. Returns the paths of the files that were written. Fails
/// with FailedPrecondition if the authority there has no certificate or no key, and with InvalidArgument if it cannot be used, such
/// as when it has expired.
Result<std::vector<std::string>> write_certificates(const std::string& folder, const ClusterSpec& cluster);

}  // namespace troupe::cluster
