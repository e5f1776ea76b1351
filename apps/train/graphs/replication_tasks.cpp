#include "apps/train/graphs/replication_tasks.h"

#include <set>

#include "messages/values/device_name.h"

namespace troupe::train {

std::string task_name(const std::string& job, int64_t task) {
  return DeviceName{job, 0, static_cast<int>(task), "", DeviceName::unset}.text();
}

std::vector<std::string> first_owners(const config::RunConfig& config) {
  const auto servers = config.cluster.tasks.find("ps");
  if (servers == config.cluster.tasks.end()) return {task_name("worker", 0)};
  std::vector<std::string> owners;
  for (int64_t task = 0; task < servers->second; ++task) owners.push_back(task_name("ps", task));
  return owners;
}

std::vector<std::string> owners_of_variables(const config::RunConfig& config) {
  const std::set<std::string> owners(config.cluster.owners.begin(), config.cluster.owners.end());
  if (!owners.empty()) return {owners.begin(), owners.end()};
  if (config.train.replication.shares_out_variables()) return {"/job:worker"};
  return {config.cluster.tasks.contains("ps") ? "/job:ps" : "/job:worker/task:0"};
}

}  // namespace troupe::train
