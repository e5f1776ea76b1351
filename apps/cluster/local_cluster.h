// A local cluster: one of processes of this machine alone. Each gets a socket that listens at a free port of the loopback interface,
// so that all addresses are known before the first one runs; what proves membership is a random name that only they know. One thread.
#pragma once

#include <map>
#include <string>

#include "apps/cluster/processes.h"

namespace troupe::cluster {

/// Of these tasks: "ps" -> 1, "worker" -> 2. `program` is this one. What the nodes have in common is `common`, whose threads are to be
/// shared out (0: as many as the machine has cores). Unavailable when there is no socket.
Result<ClusterPlan> plan_local(const std::string& program, const std::map<std::string, int>& tasks,
                               const NodeOptions& common);

}  // namespace troupe::cluster
