// Cluster resolver: finds out which task of which cluster a node is: from a cluster file and options, from a member of the cluster that
// is asked, from TF_CONFIG as TensorFlow's users set it, or from the variables that SLURM sets for each task of a job. Plain values; any
// thread.
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
  std::string join = {};  ///< a member to ask, "host:port"; neither this nor a file: the environment tells
  std::string name = {};  ///< of the cluster whose member is asked
  std::optional<TlsFiles> tls = {};  ///< to ask with; its certificate says job and task
  bool take = true;                  ///< the place that a member gives; false: only to see which
  std::string job = {};              ///< with a file, or to ask for
  std::optional<int> task = {};      ///< the same; default: 0 with a file, else the lowest that is free
  int slurm_servers =
      1;  ///< the first tasks of a SLURM job are so many parameter servers, the others workers
  uint16_t slurm_port = 4242;  ///< of the first task on a host; the next has the next
  bool plain = false;          ///< connections without TLS between hosts, which a file says itself
};

struct ResolvedCluster {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  std::string found;  ///< how, in a sentence
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// With a member to ask: what resolve_by_asking() says. InvalidArgument: nothing tells, or what tells is wrong and how; what the disk says of the file.
Result<ResolvedCluster> resolve_cluster(const ResolverOptions& options, Disk& disk,
                                        const Environment& environment);

/// The hosts that a list of SLURM stands for: "a[01-03,7],b" is a01 a02 a03 a7 b.
Result<std::vector<std::string>> slurm_hosts(const std::string& list);

/// A cluster file of these tasks, without certificates.
std::string to_cluster_file(const ClusterSpec& cluster);

}  // namespace troupe::cluster
