// Numbered: what a service has prepared for the nodes of registered partitions, by numbers that its messages contain. Owned by a
// service; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace troupe {

template <class T>
class Numbered {
 public:
  /// Adds an item and returns its number, which is never used again.
  uint64_t add(std::shared_ptr<const T> item) {
    const std::lock_guard lock(mutex_);
    items_.emplace(++last_, std::move(item));
    return last_;
  }
  void remove(uint64_t number) {
    const std::lock_guard lock(mutex_);
    items_.erase(number);
  }
  /// Returns null if no item has this number.
  std::shared_ptr<const T> find(uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto at = items_.find(number);
    return at == items_.end() ? nullptr : at->second;
  }

 private:
  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<const T>> items_;
};

}  // namespace troupe
