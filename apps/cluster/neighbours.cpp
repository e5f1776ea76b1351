#include "apps/cluster/neighbours.h"

#include <algorithm>
#include <thread>

namespace troupe::cluster {

std::string host_of(const std::string& endpoint) {
  std::string host = endpoint.substr(0, endpoint.rfind(':'));
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

size_t nodes_on_host_of(const ClusterSpec& cluster, const std::string& job, int task) {
  const std::string host = host_of(cluster.endpoint(job, task));
  size_t count = 0;
  for (const auto& [other_job, tasks] : cluster.jobs)
    count += static_cast<size_t>(
        std::ranges::count_if(tasks, [&](const auto& other) { return host_of(other.second) == host; }));
  return count;
}

size_t share_of(size_t threads, size_t processes) {
  if (threads != 0) return std::max<size_t>(1, threads / processes);
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return (cores + processes - 1) / processes;
}

}  // namespace troupe::cluster
