#include "apps/train/cluster_links.h"

#include <algorithm>
#include <thread>

#include "actors/net/refusal.h"
#include "messages/values/device_name.h"
#include "messages/wire/limits.h"

namespace troupe::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds pause_between_looks{5};
/// The times until the tasks that are not linked are reported for the first time, and again.
constexpr std::chrono::seconds first_report{2}, report_interval{5};

}  // namespace

/// Returns the tasks of the cluster that are not linked, each with the last error.
std::vector<std::pair<std::string, Status>> ClusterLinks::missing() const {
  std::vector<std::pair<std::string, Status>> tasks;
  if (!options_.cluster) return tasks;
  for (const auto& [job, members] : options_.cluster->jobs)
    for (const auto& [task, endpoint] : members) {
      std::string name = DeviceName{job, 0, task, "", DeviceName::unset}.text();
      Status status = runtime_.link_status(name);
      if (!status.ok()) tasks.emplace_back(std::move(name), std::move(status));
    }
  return tasks;
}

void ClusterLinks::report(const std::string& line) const {
  if (options_.monitor) options_.monitor->note(line);
  if (options_.line) options_.line(line);
}

Status ClusterLinks::await_all(Clock::time_point end) const {
  auto next_report = Clock::now() + first_report;
  for (auto unlinked = missing(); !unlinked.empty() && Clock::now() < end; unlinked = missing()) {
    if (std::ranges::any_of(unlinked, [](const auto& task) { return is_permanent(task.second.code()); }))
      return {};
    if (const auto now = Clock::now(); now >= next_report) {
      for (const auto& [task, reason] : unlinked) report("waiting for " + task + ": " + reason.text());
      report("the run goes on waiting for " +
             std::to_string(std::chrono::ceil<std::chrono::seconds>(end - now).count()) +
             " s (train.fault.start_timeout)");
      next_report = now + report_interval;
    }
    TROUPE_RETURN_IF_FAILED(runtime_.status());
    if (options_.stop && options_.stop->load())
      return cancelled("stopped before all tasks of the cluster were linked");
    if (options_.lost && options_.lost())
      return unavailable("a process of the cluster ended before all tasks were linked");
    std::this_thread::sleep_for(pause_between_looks);
  }
  return {};
}

std::vector<std::string> ClusterLinks::silent(const Status& failure,
                                              std::chrono::nanoseconds heartbeat) const {
  const auto end = Clock::now() + (limits::silent_heartbeats + 1) * heartbeat;
  auto lost = missing();
  while (lost.empty() && failure.code() == Code::Unavailable && options_.cluster &&
         !(options_.lost && options_.lost()) && Clock::now() < end) {
    std::this_thread::sleep_for(pause_between_looks);
    lost = missing();
  }
  std::vector<std::string> tasks;
  for (const auto& [task, reason] : lost) tasks.push_back(task);
  return tasks;
}

}  // namespace troupe::train
