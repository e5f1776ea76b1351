// Certificates to try a cluster out with: what `troupe certs` writes. DIR/ca.pem and DIR/ca.key are the authority, DIR/JOB-TASK.pem
// and DIR/JOB-TASK.key belong to each task. An authority that is there already is used again; keys are for their owner's eyes only.
#pragma once

#include <string>
#include <vector>

#include "actors/net/cluster.h"
#include "messages/values/status.h"

namespace troupe::cluster {

/// Those of all tasks and of one client; the files written.
Result<std::vector<std::string>> write_certificates(const std::string& folder, const ClusterSpec& cluster);

}  // namespace troupe::cluster
