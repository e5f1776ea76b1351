#include "apps/train/stage_devices.h"

#include "apps/cluster/planned_tasks.h"

namespace troupe::train {
namespace {

std::string device_of_worker(int64_t number, int64_t per_worker) {
  const std::string task = "/job:worker/task:" + std::to_string(number / per_worker);
  return per_worker == 1 ? task : task + "/device:CPU:" + std::to_string(number % per_worker);
}

}  // namespace

std::vector<TaskOptions> tasks_in_process(const config::RunConfig& config) {
  auto tasks = tasks_of({config.cluster.tasks.begin(), config.cluster.tasks.end()},
                        static_cast<int>(config.devices()));
  if (tasks.empty()) tasks.push_back({.cpus = static_cast<int>(config.devices())});
  return tasks;
}

Result<std::vector<std::vector<std::string>>> stage_devices(const config::RunConfig& config) {
  const int64_t stages = config.stages(), per_worker = stages == 1 ? 1 : config.devices();
  std::vector<std::vector<std::string>> groups(static_cast<size_t>(config.groups()));
  if (!config.cluster.tasks.contains("worker")) {
    for (int64_t stage = 0; stage < stages; ++stage)
      groups.front().push_back(stages == 1 ? "" : "/device:CPU:" + std::to_string(stage));
    return groups;
  }
  const int64_t devices = config.workers() * per_worker;
  if (devices % stages != 0)
    return invalid_argument("model.stages has " + std::to_string(stages) + " stages, but the " +
                            std::to_string(config.workers()) + " workers have " + std::to_string(devices) +
                            " devices; their number (workers times cluster.devices) must be a multiple of " +
                            std::to_string(stages));
  for (int64_t i = 0; i < devices; ++i)
    groups[static_cast<size_t>(i / stages)].push_back(device_of_worker(i, per_worker));
  return groups;
}

}  // namespace troupe::train
