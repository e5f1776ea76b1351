// Neighbours: the nodes of a cluster that run on one host and share its cores, its memory and its GPUs. Plain functions; any
// thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "actors/cluster.h"

namespace troupe::cluster {

/// Returns the host of an endpoint: "::1" for "[::1]:4242".
std::string host_of(const std::string& endpoint);

/// Returns whether tasks of a job compute on GPUs: all but those of the job "ps", the parameter servers.
bool uses_gpus(const std::string& job);

/// The place of a process among those of its machine.
struct Neighbours {
  size_t processes = 1;  ///< how many there are, including this one
  size_t gpu_users = 1;  ///< how many of them compute on GPUs; 0: this one does not
  size_t gpu_rank = 0;   ///< how many of these come before this one
};

/// Returns the place of a task among those of the cluster with the same host. `host` returns the host of an endpoint.
Neighbours neighbours_of(const ClusterSpec& cluster, const std::string& job, int task,
                         const std::function<std::string(const std::string& endpoint)>& host = host_of);

/// The GPUs of a machine that one of its processes uses: `count` from the number `first` on, each of which `sharers` processes use.
struct GpuShare {
  int first = 0, count = 0, sharers = 1;
};

/// Divides `gpus` GPUs of a machine among its processes. If there are fewer GPUs than processes, each process gets one that others
/// have, too.
GpuShare share_of_gpus(int gpus, const Neighbours& place);

/// Returns how many threads each of the given number of processes of this machine gets, at least one. `threads` is their sum, which
/// is not exceeded; if it is 0 they share the cores of the machine, rounded up so that none lies idle.
size_t share_of(size_t threads, size_t processes);

}  // namespace troupe::cluster
