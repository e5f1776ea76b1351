// CallQueue: the running calls of functions in one step on one device, and those that are ready to be driven. The latest comes
// first, so that one branch of a recursion ends before the next begins, and few calls exist at a time. As many threads drive calls
// as are idle. It belongs to the step and its calls; any thread may use it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "actors/engine/node.h"

namespace troupe {

class FunctionStep;
class ServedStep;

class CallQueue : public std::enable_shared_from_this<CallQueue> {
 public:
  /// `step` is the step around all calls; it ends after them.
  CallQueue(ActorNode& node, ServedStep& step) : keep_alive_(node), node_(node), step_(step) {}

  /// Counts a call while it exists.
  class Ticket {
   public:
    explicit Ticket(CallQueue& queue) : count_(queue.count_) {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Ticket() { count_.fetch_sub(1, std::memory_order_relaxed); }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

   private:
    std::atomic<size_t>& count_;
  };
  size_t count() const { return count_.load(std::memory_order_relaxed); }

  /// Has a call driven soon.
  void push(std::shared_ptr<FunctionStep> call);
  /// Registers a call that has begun. Fails with the reason if the calls were stopped.
  Status enter(FunctionStep& call);
  void leave(FunctionStep& call);
  /// Fails the step around the calls.
  void fail(const Status& status);
  /// Cancels all calls, also those that have not begun.
  void stop(const Status& reason);

 private:
  void run();

  const ActorNode::KeepAlive keep_alive_;  // the first member, so that the node outlives all others
  ActorNode& node_;
  ServedStep& step_;
  std::atomic<size_t> count_{0};
  std::mutex mutex_;  ///< guards the members below
  std::vector<std::shared_ptr<FunctionStep>> ready_;
  std::unordered_set<FunctionStep*> running_;
  size_t drivers_ = 0;  ///< the number of threads that run(), or are about to
  Status stopped_;
};

}  // namespace troupe
