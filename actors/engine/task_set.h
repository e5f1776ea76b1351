// TaskSet: a set of tasks that changes seldom. Any thread may use it.
#pragma once

#include <set>
#include <shared_mutex>
#include <string>

namespace troupe {

class TaskSet {
 public:
  /// Makes the task a member, or no longer one.
  void set(const std::string& task, bool is_member) {
    if (contains(task) == is_member) return;
    const std::unique_lock lock(mutex_);
    if (is_member)
      tasks_.insert(task);
    else
      tasks_.erase(task);
  }
  bool contains(const std::string& task) const {
    const std::shared_lock lock(mutex_);
    return tasks_.contains(task);
  }

 private:
  mutable std::shared_mutex mutex_;
  std::set<std::string> tasks_;
};

}  // namespace troupe
