// Neighbours: the nodes of a cluster that run on one host and share its cores and its memory. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <string>

#include "actors/net/cluster.h"

namespace troupe::cluster {

/// Returns the host of an endpoint: "::1" for "[::1]:4242".
std::string host_of(const std::string& endpoint);

/// Returns how many tasks of the cluster have an endpoint with the same host as this task, including the task itself.
size_t nodes_on_host_of(const ClusterSpec& cluster, const std::string& job, int task);

/// Returns how many threads each of the given number of processes of this machine gets, at least one. `threads` is their sum, which
/// is not exceeded; if it is 0 they share the cores of the machine, rounded up so that none lies idle.
size_t share_of(size_t threads, size_t processes);

}  // namespace troupe::cluster
