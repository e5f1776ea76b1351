// RunControl: what is asked of a run while it trains: to pause, to go on, to save a checkpoint, to end, to do without a task. Any
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
    enum class Kind : uint8_t { Checkpoint, Drain, Add, Backups } kind = Kind::Checkpoint;
    Done done;
    std::string task = {};  ///< Drain, Add: the task, as its user names it
    uint32_t backups = 0;   ///< Backups: for how many shards a round does not wait
  };

  /// `stop` asks the trainer to end in order.
  explicit RunControl(std::function<void()> stop) : stop_(std::move(stop)) {}

  /// Asks for "pause", "resume", "checkpoint", "stop", "drain", "add" or "backups"; the last three have an argument: the name of a
  /// task, or a number. Fails with NotFound for another action, with InvalidArgument for a wrong argument, and except for "stop"
  /// with FailedPrecondition if the run does not train (yet, or any more). Any thread.
  void ask(const std::string& action, const std::string& argument, Done done);

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
  void ask_with_argument(const std::string& action, const std::string& argument, Done done);
  void add(Request request);
  static Status refusal() { return failed_precondition("the run does not train at the moment"); }

  const std::function<void()> stop_;
  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  bool open_ = false, paused_ = false;
  std::vector<Request> requests_;
};

}  // namespace troupe::observe
