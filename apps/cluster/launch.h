// Launch: plans how this machine starts the nodes of a cluster file. Nodes on this machine become child processes; the others are
// started by a command that runs a program on another machine, by default ssh. Plain values; any thread.
#pragma once

#include <string>

#include "apps/cluster/processes.h"
#include "messages/env/disk.h"

namespace troupe::cluster {

struct LaunchOptions {
  std::string program;       ///< the path of this program, for the nodes of this machine
  std::string cluster_file;  ///< the paths of certificates in it must be valid on all machines
  /// The command and its arguments, separated by spaces. The host and one argument for the remote shell are appended.
  std::string ssh = "ssh -o BatchMode=yes -o ConnectTimeout=10";
  std::string remote_program = "troupe";  ///< "~/" stands for the home folder of the user on that machine
  std::string remote_folder = {};         ///< the working folder there; empty: the one in which ssh starts
  bool ssh_everywhere = false;            ///< use the command for the nodes of this machine, too
};

/// Plans the processes of the nodes. All nodes have the options `common`; its threads are divided among the nodes of each host. If
/// common.threads is 0, the nodes of each host share its cores. Fails as config::load_cluster() does, with InvalidArgument if
/// options.ssh is empty, and with AlreadyExists if the endpoint of a node of this machine is in use, such as by a node that
/// somebody else has started.
Result<ClusterPlan> plan_launch(const LaunchOptions& options, const NodeOptions& common, Disk& disk);

/// Returns whether the host of an endpoint is this machine, that is, whether a socket here can be bound to its address.
bool is_this_machine(const std::string& endpoint);

}  // namespace troupe::cluster
