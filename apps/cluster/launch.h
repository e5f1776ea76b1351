// Launch: how the nodes of a cluster file are started from here: those whose host is this machine as its processes, the others by a
// command that runs another there, which is ssh unless the user says otherwise. Plain values; any thread.
#pragma once

#include <string>

#include "apps/cluster/processes.h"
#include "messages/env/disk.h"

namespace troupe::cluster {

struct LaunchOptions {
  std::string program;       ///< this one, for the nodes of this machine
  std::string cluster_file;  ///< paths of certificates are the same on all machines
  /// Words apart by spaces; the host and one argument, for the shell there, are added.
  std::string ssh = "ssh -o BatchMode=yes -o ConnectTimeout=10";
  std::string remote_program = "troupe";  ///< "~/" begins at the user's home there
  std::string remote_folder = {};         ///< in which it is started; empty: where ssh begins
  bool ssh_everywhere = false;            ///< for this machine, too
};

/// What the nodes have in common is `common`, whose threads are to be shared out among those of a host (0: this machine's cores; other
/// machines' nodes take what they find). What the cluster file is refused for.
Result<ClusterPlan> plan_launch(const LaunchOptions& options, const NodeOptions& common, Disk& disk);

/// Whether an endpoint's host is this machine: a name or an address that sockets here can have.
bool is_this_machine(const std::string& endpoint);

}  // namespace troupe::cluster
