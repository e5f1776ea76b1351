// ClusterLinks: the links of a trainer to the tasks of its cluster. Used by the trainer, on its thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "actors/runtime.h"
#include "apps/train/trainer.h"

namespace troupe::train {

class ClusterLinks {
 public:
  /// Both must outlive this object. Without TrainerOptions::cluster there are no links.
  ClusterLinks(const Runtime& runtime, const TrainerOptions& options)
      : runtime_(runtime), options_(options) {}

  /// Waits until every task is linked. While it waits, it prints which tasks are missing, why, and for how long it goes on waiting.
  /// Fails with DeadlineExceeded if `timeout` (train.fault.start_timeout) passes, and with the reason if a link is refused
  /// permanently; both list the missing tasks, and why each is missing. Fails with Cancelled if the trainer is stopped meanwhile,
  /// and with Unavailable if a process of the cluster ends.
  Status await_all(std::chrono::nanoseconds timeout) const;
  /// Returns the tasks that do not answer. If another task reported the loss that ended the run, this process may not have noticed
  /// it yet; then this waits for as long as that takes.
  std::vector<std::string> silent(const Status& failure, std::chrono::nanoseconds heartbeat) const;

 private:
  struct Missing {
    std::string task, endpoint;
    Status reason;  ///< the last error of the link
  };
  /// Returns the tasks of the cluster that are not linked.
  std::vector<Missing> missing() const;
  /// Returns a line for each.
  static std::string list_of(const std::vector<Missing>& tasks);
  void report(const std::string& line) const;

  const Runtime& runtime_;
  const TrainerOptions& options_;
};

}  // namespace troupe::train
