#include "apps/cluster/neighbours.h"

#include <algorithm>
#include <thread>

namespace troupe::cluster {
std::string host_of(const std::string& endpoint) {
  std::string host = endpoint.substr(0, endpoint.rfind(':'));
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

bool uses_gpus(const std::string& job) { return job != "ps"; }

Neighbours neighbours_of(const ClusterSpec& cluster, const std::string& job, int task,
                         const std::function<std::string(const std::string& endpoint)>& host) {
  const std::string here = host(cluster.endpoint(job, task));
  Neighbours result{0, 0, 0};
  for (const auto& [other_job, tasks] : cluster.jobs)
    for (const auto& [other, endpoint] : tasks) {
      if (host(endpoint) != here) continue;
      ++result.processes;
      if (!uses_gpus(other_job)) continue;
      if (other_job == job && other == task) result.gpu_rank = result.gpu_users;
      ++result.gpu_users;
    }
  if (!uses_gpus(job)) result.gpu_users = 0;
  return result;
}

GpuShare share_of_gpus(int gpus, const Neighbours& place) {
  if (gpus <= 0 || place.gpu_users == 0) return {};
  const auto all = static_cast<size_t>(gpus);
  /// The first GPU of a process.
  const auto first = [&](size_t rank) { return static_cast<int>(rank * all / place.gpu_users); };
  GpuShare share{first(place.gpu_rank), 0, 0};
  share.count = std::max(1, first(place.gpu_rank + 1) - share.first);
  for (size_t rank = 0; rank < place.gpu_users; ++rank) share.sharers += first(rank) == share.first ? 1 : 0;
  return share;
}

size_t share_of(size_t threads, size_t processes) {
  if (threads != 0) return std::max<size_t>(1, threads / processes);
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return (cores + processes - 1) / processes;
}

}  // namespace troupe::cluster
