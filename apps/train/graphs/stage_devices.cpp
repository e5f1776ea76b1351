#include "apps/train/graphs/stage_devices.h"

#include <algorithm>

#include "actors/runtime_impl.h"
#include "apps/cluster/neighbours.h"
#include "apps/cluster/planned_tasks.h"

namespace troupe::train {
namespace {

/// Divides the GPUs of the machine, or `wanted` of them, among the tasks that compute on GPUs.
void divide_gpus(int wanted, std::vector<TaskOptions>& tasks) {
  const auto uses_gpus = [](const TaskOptions& task) { return cluster::uses_gpus(task.job); };
  cluster::Neighbours place{tasks.size(), static_cast<size_t>(std::ranges::count_if(tasks, uses_gpus)), 0};
  const auto gpus = gpus_of(TaskOptions{.gpus = wanted});
  for (TaskOptions& task : tasks) {
    task.gpus = gpus ? 0 : wanted;  // the runtime says what is wrong with the number
    if (!gpus || !uses_gpus(task)) continue;
    const cluster::GpuShare share = cluster::share_of_gpus(*gpus, place);
    task.gpus = share.count;
    task.first_gpu = share.first;
    ++place.gpu_rank;
  }
}

/// Returns the type of the devices over which each of these tasks shares out a model. Only tasks in this process are known to have
/// GPUs.
std::string type_of_devices(const config::RunConfig& config, int64_t of_each) {
  const auto has_gpus = [&](const TaskOptions& task) {
    return !cluster::uses_gpus(task.job) || task.gpus >= of_each;
  };
  return !config.cluster.are_processes && std::ranges::all_of(tasks_in_process(config), has_gpus) ? "GPU"
                                                                                                  : "CPU";
}

}  // namespace

std::vector<TaskOptions> tasks_in_process(const config::RunConfig& config) {
  auto tasks = tasks_of({config.cluster.tasks.begin(), config.cluster.tasks.end()},
                        static_cast<int>(config.devices()));
  if (tasks.empty()) tasks.push_back({.cpus = static_cast<int>(config.devices())});
  divide_gpus(config.run.gpus, tasks);
  return tasks;
}

Result<std::vector<StageDevices>> stage_devices(const config::RunConfig& config) {
  const int64_t needed = config.devices_of_model(), per_worker = needed == 1 ? 1 : config.devices();
  const bool in_cluster = config.cluster.tasks.contains("worker");
  const int64_t devices = in_cluster ? config.workers() * per_worker : needed;
  if (devices % needed != 0)
    return invalid_argument(
        "the model needs " + std::to_string(needed) + " devices (stages: " + std::to_string(config.stages()) +
        ", model.split_over: " + std::to_string(config.model.split_over) + "), but the " +
        std::to_string(config.workers()) + " workers have " + std::to_string(devices) +
        "; their number (workers times cluster.devices) must be a multiple of " + std::to_string(needed));
  const int64_t of_each = in_cluster ? per_worker : needed;
  const std::string type = of_each == 1 ? std::string() : type_of_devices(config, of_each);
  std::vector<StageDevices> groups(static_cast<size_t>(devices / needed),
                                   StageDevices(static_cast<size_t>(config.stages())));
  for (int64_t i = 0; i < devices; ++i) {
    std::string device = in_cluster ? "/job:worker/task:" + std::to_string(i / of_each) : std::string();
    if (of_each > 1) device += "/device:" + type + ':' + std::to_string(i % of_each);
    StageDevices& group = groups[static_cast<size_t>(i / needed)];
    group[static_cast<size_t>(i % needed / config.model.split_over)].push_back(std::move(device));
  }
  return groups;
}

}  // namespace troupe::train
