// RecentPlans: what libraries of GPUs need for each kind of call, made once and kept, for the calls that were made last. So a
// program whose sizes change all the time does not keep more and more. Not for two threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace troupe {

class RecentPlans {
 public:
  /// What distinguishes calls: types, sizes, strides.
  using Key = std::vector<int64_t>;

  explicit RecentPlans(size_t most = 4096) : most_(most) {}

  /// Returns the plan for these calls, which is null, to be set by the caller, if there is none. The plan that was not asked for
  /// longest is dropped if there are too many.
  std::shared_ptr<void>& operator[](const Key& key) {
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      plans_.splice(plans_.begin(), plans_, found->second);
      return found->second->second;
    }
    plans_.emplace_front(key, nullptr);
    by_key_.emplace(key, plans_.begin());
    if (plans_.size() > most_) {
      by_key_.erase(plans_.back().first);
      plans_.pop_back();
    }
    return plans_.front().second;
  }

 private:
  using Plans = std::list<std::pair<Key, std::shared_ptr<void>>>;

  const size_t most_;
  Plans plans_;  ///< the one that was asked for last comes first
  std::map<Key, Plans::iterator> by_key_;
};

}  // namespace troupe
