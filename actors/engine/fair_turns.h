// FairTurns: shares the threads of a pool among sessions. While several sessions exist, at most as many of their computations are
// given to the pool as it has threads; the others wait in one line per session, and the sessions take turns. So a session that runs
// many steps at a time does not delay the steps of another by all of its own. A single session pays nothing, nor do light
// computations. A computation that waits has no turn meanwhile (devices/held_place.h). Any thread.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "actors/engine/scheduler.h"
#include "devices/held_place.h"

namespace troupe {

class FairTurns final : public PlaceLender, public std::enable_shared_from_this<FairTurns> {
 public:
  /// `threads` is how many computations run at once, at least 1.
  static std::shared_ptr<FairTurns> make(Scheduler& scheduler, size_t threads);

  /// The turns of one session, as long as it exists.
  class Session {
   public:
    explicit Session(std::shared_ptr<FairTurns> turns);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Runs a computation when it is the session's turn.
    void compute(Job job, Computation kind);

   private:
    friend class FairTurns;
    struct Line;
    const std::shared_ptr<FairTurns> turns_;
    const std::shared_ptr<Line> line_;
  };

 private:
  FairTurns(Scheduler& scheduler, size_t threads) : scheduler_(scheduler), threads_(threads) {}
  struct Waiting {
    Job job;
    Computation kind = Computation::Yields;
  };

  void start(const Waiting& waiting);
  /// Gives the place of a computation that has ended, or that waits, to the next session in turn.
  void pass_on();
  void lend() override { pass_on(); }
  void take_back() override;

  Scheduler& scheduler_;
  const size_t threads_;
  std::atomic<size_t> sessions_{0};
  std::mutex mutex_;  ///< guards the members below, and all lines
  size_t running_ = 0;
  /// Those that are not empty, in the order of their turns.
  std::deque<std::shared_ptr<Session::Line>> lines_;
};

}  // namespace troupe
