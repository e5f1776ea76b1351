// Cluster files list the tasks of a cluster, their addresses and their certificates (experience.md, section 3). They are checked as
// run files are: one error reports all mistakes with their locations. Functions without state; any thread. An example:
//
//   cluster = { name = "lab", tls = { cert = "certs/{job}-{task}.pem", key = "certs/{job}-{task}.key", ca = "certs/ca.pem" } }
//   [jobs]
//   ps = ["a.lab:4242"]
//   worker = ["a.lab:4243", "b.lab:4242"]
#pragma once

#include <map>
#include <span>
#include <string>

#include "actors/cluster.h"
#include "apps/config/schema.h"
#include "messages/env/disk.h"

namespace troupe::config {

/// Reads a cluster file for the given task: {job} and {task} in the paths of certificates are replaced by its job and number. Paths
/// are relative to the file. Fails with InvalidArgument if the file cannot be read or is wrong.
Result<ClusterSpec> load_cluster(Disk& disk, const std::string& path, const std::string& job, int task);
/// Does the same for the text of a file. Paths are relative to `folder`.
Result<ClusterSpec> parse_cluster(std::string text, const std::string& file, const std::string& folder,
                                  const std::string& job, int task);

/// Fails with InvalidArgument if no job of the cluster takes part in training.
Status check_training_jobs(const ClusterSpec& cluster);
/// Returns the number of tasks of each job.
std::map<std::string, int64_t> tasks_of(const ClusterSpec& cluster);

/// Returns all keys that a cluster file may have.
std::span<const Key> cluster_schema();

}  // namespace troupe::config
