// The state of a running cluster, as each of its nodes tells it (messages/schemas/monitor.capnp), and the control of the training
// on it. Functions that block.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "actors/cluster.h"
#include "messages/values/status.h"

namespace troupe::cluster {

struct NodeReport {
  std::string task, endpoint;       ///< the full name of the task
  Status reached;                   ///< why the node could not be asked
  double started = 0;               ///< in seconds since 1970
  bool trains = false;              ///< a training has begun on it
  bool works = false;               ///< it does something else than wait for a step
  uint64_t steps = 0;               ///< of that training
  double cpu_seconds = 0;           ///< the processor time that the node has used
  uint64_t sent = 0, received = 0;  ///< the bytes of all its messages
  /// The other tasks to which it is not linked, with the reason.
  std::vector<std::pair<std::string, std::string>> unlinked;
};

/// Asks all nodes, as one more client of the cluster. Waits for those that cannot be reached for at most `timeout`. Fails with
/// InvalidArgument if the certificate of `cluster` cannot be used.
Result<std::vector<NodeReport>> cluster_status(const ClusterSpec& cluster, std::chrono::nanoseconds timeout);

/// Has a worker tell the training on the cluster what to do, such as "pause", with the argument of RunControl::ask().
/// Returns the folder of the checkpoint, if one was asked for. Fails with Unavailable if no worker can be reached within `timeout`,
/// with NotFound if no training runs on them, as RunControl::ask() does if the training refuses, and as cluster_status() does.
Result<std::string> control_cluster(const ClusterSpec& cluster, const std::string& action,
                                    const std::string& argument, std::chrono::nanoseconds timeout);

}  // namespace troupe::cluster
