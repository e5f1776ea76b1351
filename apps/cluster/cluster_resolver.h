// Cluster resolver: determines the cluster and the task of a node. Its sources are a cluster file with options, a member of the
// cluster, the variable TF_CONFIG as TensorFlow uses it, or the variables that SLURM sets for each task of a job. Plain values;
// functions may be called by any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/net/cluster.h"
#include "messages/env/disk.h"

namespace troupe::cluster {

struct ResolverOptions {
  std::string cluster_file = {};
  /// A member of the cluster to ask, "host:port". If this and `cluster_file` are empty, the environment variables are used.
  std::string join = {};
  std::string name = {};  ///< with `join`: the name of the cluster
  /// With `join`: the files for TLS; the certificate names job and task. Not set: a connection without TLS.
  std::optional<TlsFiles> tls = {};
  bool take = true;      ///< with `join`: take the task that the member assigns; false: only report it
  std::string job = {};  ///< with `cluster_file` or `join`
  /// With `cluster_file` or `join`. The default is 0 with a file, and the lowest free task with `join`.
  std::optional<int> task = {};
  /// Under SLURM: the number of parameter servers. They are the first tasks of the job; the others are workers.
  int slurm_servers = 1;
  /// Under SLURM: the port of the first task on a host. Further tasks on that host use the following ports.
  uint16_t slurm_port = 4242;
  /// Without `cluster_file`, which has its own setting: connections without TLS between hosts.
  bool plain = false;
};

struct ResolvedCluster {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  std::string found;  ///< how the task was found, as the rest of a sentence that begins with "found"
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Determines cluster and task. Fails with InvalidArgument if no source is given, or if its content is invalid; with the error of
/// the disk if the cluster file cannot be read; with `join`, as resolve_by_asking() does.
Result<ResolvedCluster> resolve_cluster(const ResolverOptions& options, Disk& disk,
                                        const Environment& environment);

/// Expands a host list of SLURM: "a[01-03,7],b" becomes a01 a02 a03 a7 b. Fails with InvalidArgument if it is malformed.
Result<std::vector<std::string>> slurm_hosts(const std::string& list);

/// Returns the text of a cluster file with these tasks, without certificates.
std::string to_cluster_file(const ClusterSpec& cluster);

}  // namespace troupe::cluster
