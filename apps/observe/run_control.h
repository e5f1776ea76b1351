// RunControl: what is asked of a run while it trains: to pause, to go on, to save a checkpoint, to end. Any thread asks; the
// trainer takes what was asked between two rounds. Made by who starts the trainer, and lives longer than both.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "messages/values/status.h"

namespace troupe::observe {

class RunControl {
 public:
  /// Receives the folder of the checkpoint, or why there is none. Called once, by the thread of the trainer.
  using Saved = std::function<void(Result<std::string>)>;

  /// `stop` asks the trainer to end in order.
  explicit RunControl(std::function<void()> stop) : stop_(std::move(stop)) {}

  // Any thread. All but stop() fail with FailedPrecondition if the run does not train (yet, or any more).
  Status pause() { return set_paused(true); }
  Status resume() { return set_paused(false); }
  void stop();
  void save(Saved saved);

  // The thread of the trainer.
  /// From now on the trainer takes what is asked.
  void open();
  /// From now on everything is refused, also what has been asked and not been taken.
  void close();
  bool paused() const;
  std::vector<Saved> take_saves();
  /// Waits until something is asked, but not longer than this.
  void await(std::chrono::nanoseconds timeout);

 private:
  Status set_paused(bool paused);
  static Status refusal() { return failed_precondition("the run does not train at the moment"); }

  const std::function<void()> stop_;
  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  bool open_ = false, paused_ = false;
  std::vector<Saved> saves_;
};

}  // namespace troupe::observe
