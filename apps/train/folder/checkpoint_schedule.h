// CheckpointSchedule: when a run saves its state, and which checkpoints it keeps for good (train.checkpoint.every, keep_every). One
// thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "apps/config/run_config.h"

namespace troupe::train {

class CheckpointSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  /// For a run that begins, or goes on, at this step and time. `options` must outlive this object.
  CheckpointSchedule(const config::Checkpoint& options, uint64_t step, Clock::time_point now)
      : options_(options), pinned_step_(step), saved_(now), pinned_(now) {}

  /// Returns whether the state of this step is to be saved now.
  bool is_due(uint64_t step, Clock::time_point now) const;
  /// Called when the state of this step is saved. Returns whether the checkpoint is kept for good.
  bool begin_save(uint64_t step, Clock::time_point now);

 private:
  const config::Checkpoint& options_;
  uint64_t pinned_step_;
  Clock::time_point saved_,
      pinned_;  ///< when the last checkpoint, and the last one that is kept for good, was saved
};

}  // namespace troupe::train
