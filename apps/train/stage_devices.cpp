#include "apps/train/stage_devices.h"

#include <algorithm>

#include "actors/runtime_impl.h"
#include "apps/cluster/neighbours.h"
#include "apps/cluster/planned_tasks.h"

namespace troupe::train {
namespace {

std::string device_of_worker(int64_t number, int64_t per_worker) {
  const std::string task = "/job:worker/task:" + std::to_string(number / per_worker);
  return per_worker == 1 ? task : task + "/device:CPU:" + std::to_string(number % per_worker);
}

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
  std::vector<StageDevices> groups(static_cast<size_t>(devices / needed),
                                   StageDevices(static_cast<size_t>(config.stages())));
  for (int64_t i = 0; i < devices; ++i) {
    StageDevices& group = groups[static_cast<size_t>(i / needed)];
    std::string device = in_cluster    ? device_of_worker(i, per_worker)
                         : needed == 1 ? std::string()
                                       : "/device:CPU:" + std::to_string(i);
    group[static_cast<size_t>(i % needed / config.model.split_over)].push_back(std::move(device));
  }
  return groups;
}

}  // namespace troupe::train
