// Local cluster: plans a cluster of processes of this machine. Each process inherits a socket that listens at a free port of the
// loopback interface, so all addresses are known before the first process starts. The name of the cluster is random and known
// only to its processes; it proves that they are members. One thread.
#pragma once

#include <map>
#include <string>

#include "apps/cluster/processes.h"

namespace troupe::cluster {

/// Plans a cluster with the given number of tasks of each job, such as "ps" -> 1, "worker" -> 2. `program` is the path of this
/// program. All nodes have the options `common`; its threads are divided among them (0: the cores of this machine), and its GPUs
/// among those that compute. Fails with Unavailable if no socket can be opened.
Result<ClusterPlan> plan_local(const std::string& program, const std::map<std::string, int>& tasks,
                               const NodeOptions& common);

}  // namespace troupe::cluster
