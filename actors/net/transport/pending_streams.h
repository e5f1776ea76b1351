// PendingStreams: the accepted connections whose peers have not said yet who they are, the oldest first. Their number is bounded.
// Owned by the network that accepts them; one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <utility>

namespace troupe {

class PendingStreams {
 public:
  using End = std::function<void()>;
  explicit PendingStreams(size_t max) : max_(max) {}

  /// Adds a connection, which `end` closes. Closes the oldest one if there are too many.
  std::shared_ptr<End> add(End end) {
    if (all_.size() >= max_) end_oldest();
    return all_.emplace_back(std::make_shared<End>(std::move(end)));
  }
  void remove(const std::shared_ptr<End>& one) { all_.remove(one); }
  void end_oldest() {
    if (all_.empty()) return;
    const auto oldest = all_.front();
    all_.pop_front();
    (*oldest)();
  }
  void end_all() {
    while (!all_.empty()) end_oldest();
  }

 private:
  const size_t max_;
  std::list<std::shared_ptr<End>> all_;
};

}  // namespace troupe
