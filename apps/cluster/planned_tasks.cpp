#include "apps/cluster/planned_tasks.h"

namespace troupe {

std::vector<TaskOptions> tasks_of(const std::map<std::string, int>& counts, int cpus) {
  std::vector<TaskOptions> tasks;
  for (const auto& [job, count] : counts)
    for (int task = 0; task < count; ++task) tasks.push_back({job, task, cpus});
  return tasks;
}

std::vector<WorkerDevices> workers_of(const std::vector<TaskOptions>& tasks) {
  std::vector<WorkerDevices> workers;
  for (const TaskOptions& task : tasks) {
    WorkerDevices worker{{DeviceName{task.job, 0, task.task, "", DeviceName::unset}.text(), 1, "worker", {}},
                         {}};
    for (const int cpu : cpus_of(task))
      worker.devices.push_back({DeviceName{task.job, 0, task.task, "CPU", cpu}, 1, 0});
    workers.push_back(std::move(worker));
  }
  return workers;
}

}  // namespace troupe
