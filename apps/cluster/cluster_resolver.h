// Cluster resolver: determines the cluster and the task of a node. Its sources are a cluster file with options, a member of the
// cluster, the variable TF_CONFIG as TensorFlow uses it, or the variables that mpirun or SLURM set for each rank. Plain values;
// functions may be called by any thread.
#pragma once

#include <optional>
#include <string>

#include "actors/cluster.h"
#include "apps/cluster/environment.h"
#include "messages/env/disk.h"

namespace troupe::cluster {

struct ResolverOptions {
  std::string cluster_file = {};
  /// A member of the cluster to ask, "host:port". If this and `cluster_file` are empty, the environment variables are used.
  std::string join = {};
  std::string name = {};  ///< with `join`: the name of the cluster
  /// With `join`: the files for TLS; the certificate names job and task. Not set: a connection without TLS.
  std::optional<TlsFiles> tls = {};
  bool take = true;  ///< with `join`: take the task that the member assigns; false: only report it
  /// With `cluster_file` or `join`. The default with a file: job and task follow from the rank.
  std::string job = {};
  /// With `cluster_file` or `join`. The default with a file is the number of this pod, or 0 outside of Kubernetes; with `join` it
  /// is the lowest free task.
  std::optional<int> task = {};
  /// Of ranks: the number of parameter servers. They are the first nodes; the others are workers.
  int servers = 1;
  /// Of ranks: the port of the first node on a host. Further nodes on that host use the following ports.
  uint16_t port = 4242;
  /// Of ranks: their hosts (hosts_of_slots()). Empty: all run here, or the environment tells their hosts.
  std::string hosts = {};
  /// Of ranks: rank 0 is no node, but the client that trains. The nodes begin with rank 1.
  bool first_trains = false;
  /// Without `cluster_file`, which has its own setting: connections without TLS between hosts.
  bool plain = false;
};

struct ResolvedCluster {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  std::string found;  ///< how the task was found, as the rest of a sentence that begins with "found"
};

/// Determines cluster and task. Fails with InvalidArgument if no source is given, or if its content is invalid; with the error of
/// the disk if the cluster file cannot be read; with `join`, as resolve_by_asking() does.
Result<ResolvedCluster> resolve_cluster(const ResolverOptions& options, Disk& disk,
                                        const Environment& environment);

/// Returns the text of a cluster file with these tasks, without certificates.
std::string to_cluster_file(const ClusterSpec& cluster);

}  // namespace troupe::cluster
