// Cluster files: which tasks there are, where, and with which certificates (experience.md, section 3). Checked like run files: all
// mistakes at once, each with its place.
//
//   cluster = { name = "lab", tls = { cert = "certs/{job}-{task}.pem", key = "certs/{job}-{task}.key", ca = "certs/ca.pem" } }
//   [jobs]
//   ps = ["a.lab:4242"]
//   worker = ["a.lab:4243", "b.lab:4242"]
#pragma once

#include <span>
#include <string>

#include "actors/net/cluster.h"
#include "apps/config/schema.h"
#include "messages/env/disk.h"

namespace troupe::config {

/// As the task sees it: {job} and {task} in the paths of certificates are its own, and paths are relative to the file.
Result<ClusterSpec> load_cluster(Disk& disk, const std::string& path, const std::string& job, int task);
/// The same from memory; relative paths lie under `folder`.
Result<ClusterSpec> parse_cluster(std::string text, const std::string& file, const std::string& folder,
                                  const std::string& job, int task);

/// Every key a cluster file may have.
std::span<const Key> cluster_schema();

}  // namespace troupe::config
