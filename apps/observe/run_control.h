// RunControl: what is asked of a run while it trains: to pause, to go on, to save a checkpoint, to end, to do without a worker. Any
// thread asks; the trainer takes what was asked between two rounds. Made by who starts the trainer, and lives longer than both.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "messages/values/status.h"

namespace troupe::observe {

class RunControl {
 public:
  /// Receives the folder of the checkpoint if one was asked for, otherwise an empty text; or why nothing was done. Called once, by
  /// the thread that asks or that of the trainer.
  using Done = std::function<void(const Result<std::string>&)>;
  /// What the trainer does between two rounds.
  struct Request {
    enum class Kind : uint8_t { Checkpoint, Drain, Add } kind = Kind::Checkpoint;
    std::string task;  ///< Drain, Add: the worker, as its user names it
    Done done;
  };

  /// `stop` asks the trainer to end in order.
  explicit RunControl(std::function<void()> stop) : stop_(std::move(stop)) {}

  /// Asks for "pause", "resume", "checkpoint", "stop", "drain" or "add"; the last two need a task. Fails with NotFound for another
  /// action, and except for "stop" with FailedPrecondition if the run does not train (yet, or any more). Any thread.
  void ask(const std::string& action, const std::string& task, Done done);

  // The thread of the trainer.
  /// From now on the trainer takes what is asked.
  void open();
  /// From now on everything is refused, also what has been asked and not been taken.
  void close();
  bool paused() const;
  std::vector<Request> take_requests();
  /// Waits until something is asked, but not longer than this.
  void await(std::chrono::nanoseconds timeout);

 private:
  void stop();
  Status set_paused(bool paused);
  void add(Request request);
  static Status refusal() { return failed_precondition("the run does not train at the moment"); }

  const std::function<void()> stop_;
  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  bool open_ = false, paused_ = false;
  std::vector<Request> requests_;
};

}  // namespace troupe::observe
