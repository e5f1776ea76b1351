// Cluster files in programs, installed as <troupe/cluster_file.h>. Failures are thrown as troupe::Error. A function without state;
// any thread. Public header.
#pragma once

#include <string>

#include "actors/cluster.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Reads a cluster file for a task: {job} and {task} in the paths of certificates are replaced by its job and number. Paths are
/// relative to the file. Throws InvalidArgument, which lists all mistakes with their places, if it cannot be read or is wrong.
ClusterSpec read_cluster_file(const std::string& path, const std::string& job = "client", int task = 0);

}  // namespace troupe
#pragma GCC visibility pop
