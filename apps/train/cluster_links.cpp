#include "apps/train/cluster_links.h"

#include <algorithm>
#include <thread>

#include "actors/net/refusal.h"
#include "messages/values/device_name.h"
#include "messages/wire/limits.h"

namespace troupe::train {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds pause_between_looks{5};
/// The times until the tasks that are not linked are reported for the first time, and again.
constexpr std::chrono::seconds first_report{2}, report_interval{5};

int64_t whole_seconds(SteadyClock::duration time) {
  return std::chrono::ceil<std::chrono::seconds>(time).count();
}

}  // namespace

std::vector<ClusterLinks::Missing> ClusterLinks::missing() const {
  std::vector<Missing> tasks;
  if (!options_.cluster) return tasks;
  for (const auto& [job, members] : options_.cluster->jobs)
    for (const auto& [task, endpoint] : members) {
      std::string name = DeviceName{job, 0, task, "", DeviceName::unset}.text();
      Status status = runtime_.link_status(name);
      if (!status.ok()) tasks.push_back({std::move(name), endpoint, std::move(status)});
    }
  return tasks;
}

std::string ClusterLinks::list_of(const std::vector<Missing>& tasks) {
  std::string text;
  for (const Missing& one : tasks)
    text += "\n  " + one.task + " at " + one.endpoint + ": " + one.reason.text();
  return text;
}

void ClusterLinks::report(const std::string& line) const {
  if (options_.monitor) options_.monitor->note(line);
  if (options_.line) options_.line(line);
}

Status ClusterLinks::await_all(std::chrono::nanoseconds timeout) const {
  const auto end = SteadyClock::now() + timeout;
  auto next_report = SteadyClock::now() + first_report;
  for (auto unlinked = missing(); !unlinked.empty(); unlinked = missing()) {
    const auto now = SteadyClock::now();
    const auto refused =
        std::ranges::find_if(unlinked, [](const Missing& one) { return is_permanent(one.reason.code()); });
    if (refused != unlinked.end())
      return Status(refused->reason.code(), "the cluster cannot be complete:" + list_of(unlinked));
    if (now >= end)
      return deadline_exceeded("the cluster is not complete after " + std::to_string(whole_seconds(timeout)) +
                               " s (train.fault.start_timeout):" + list_of(unlinked));
    if (now >= next_report) {
      for (const Missing& one : unlinked) report("waiting for " + one.task + ": " + one.reason.text());
      report("the run goes on waiting for " + std::to_string(whole_seconds(end - now)) +
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
  const auto end = SteadyClock::now() + (limits::silent_heartbeats + 1) * heartbeat;
  auto lost = missing();
  while (lost.empty() && failure.code() == Code::Unavailable && options_.cluster &&
         !(options_.lost && options_.lost()) && SteadyClock::now() < end) {
    std::this_thread::sleep_for(pause_between_looks);
    lost = missing();
  }
  std::vector<std::string> tasks;
  for (const Missing& one : lost) tasks.push_back(one.task);
  return tasks;
}

}  // namespace troupe::train
