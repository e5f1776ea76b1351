// LiveWeights: has runs that train save checkpoints at intervals, so that a server of their checkpoints serves the present weights.
// It owns a thread; its functions may be called from any other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "messages/values/status.h"

namespace troupe::serve {

class LiveWeights {
 public:
  /// Has the run at a path save a checkpoint, if it trains (apps/observe/watched_run.h).
  using Save = std::function<Status(const std::string& path)>;

  /// Calls `save` for each path, once before the constructor returns and then whenever `every` has passed since the last calls.
  /// Each failure but NotFound, which means that no training runs, is reported once, until a call succeeds.
  LiveWeights(std::vector<std::string> paths, std::chrono::nanoseconds every, Save save,
              std::function<void(const std::string&)> report);
  /// Waits for the call in progress.
  ~LiveWeights();
  LiveWeights(const LiveWeights&) = delete;
  LiveWeights& operator=(const LiveWeights&) = delete;

 private:
  struct Run {
    std::string path, failure;  ///< the failure reported last; empty: none
  };

  void save_all();
  void work(const std::stop_token& stop);

  std::vector<Run> runs_;
  const std::chrono::nanoseconds every_;
  const Save save_;
  const std::function<void(const std::string&)> report_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace troupe::serve
