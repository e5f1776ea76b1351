// ExchangeThread: the thread of a communicator. It runs the exchanges one after the other, and sees to it that each ends. Owned by
// the communicator; any thread may call its functions.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "messages/values/completion.h"

namespace troupe {

class ExchangeThread {
 public:
  /// What one exchange does. It must return soon after aborted() has become true.
  using Work = std::function<Status()>;

  /// Runs `connect` first. If that fails, so do all exchanges.
  explicit ExchangeThread(Work connect);
  /// Aborts, and waits for the thread.
  ~ExchangeThread();
  ExchangeThread(const ExchangeThread&) = delete;
  ExchangeThread& operator=(const ExchangeThread&) = delete;

  /// Completes with the status of the work, or with the failure that came before it.
  Completion add(Work work);
  void abort(const Status& reason);
  bool aborted() const { return !failure().ok(); }
  /// Returns why no exchange can run any more; Ok if they can.
  Status failure() const;

 private:
  struct Exchange {
    Work work;
    Completion done;
  };

  void run(const Work& connect);
  std::optional<Exchange> next();

  mutable std::mutex mutex_;  ///< guards the members below, except the thread
  std::condition_variable changed_;
  std::deque<Exchange> waiting_;
  Status failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace troupe
