// ClusterLinks: the links of a trainer to the tasks of its cluster. Used by the trainer, on its thread.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "actors/runtime.h"
#include "apps/train/trainer.h"

namespace troupe::train {

class ClusterLinks {
 public:
  /// Both must outlive this object. Without TrainerOptions::cluster there are no links.
  ClusterLinks(const Runtime& runtime, const TrainerOptions& options)
      : runtime_(runtime), options_(options) {}

  /// Waits until every task is linked, the time is over, or a link is refused permanently. In the last two cases the session, which
  /// is opened next, reports the missing tasks. While it waits, it prints which tasks are missing, why, and for how long it goes on
  /// waiting. Fails with Cancelled if the trainer is stopped meanwhile, and with Unavailable if a process of the cluster ends.
  Status await_all(std::chrono::steady_clock::time_point end) const;
  /// Returns the tasks that do not answer. If another task reported the loss that ended the run, this process may not have noticed
  /// it yet; then this waits for as long as that takes.
  std::vector<std::string> silent(const Status& failure, std::chrono::nanoseconds heartbeat) const;

 private:
  std::vector<std::pair<std::string, Status>> missing() const;
  void report(const std::string& line) const;

  const Runtime& runtime_;
  const TrainerOptions& options_;
};

}  // namespace troupe::train
