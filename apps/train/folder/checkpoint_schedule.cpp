#include "apps/train/folder/checkpoint_schedule.h"

namespace troupe::train {
namespace {

bool has_passed(const config::Period& period, CheckpointSchedule::Clock::duration time) {
  return period.seconds > 0 && std::chrono::duration<double>(time).count() >= period.seconds;
}

}  // namespace

bool CheckpointSchedule::is_due(uint64_t step, Clock::time_point now) const {
  const config::Period& every = options_.every;
  return has_passed(every, now - saved_) ||
         (every.steps > 0 && step % static_cast<uint64_t>(every.steps) == 0);
}

/// Of each `keep_every` steps, counted from step 0, the first checkpoint is kept, also if the run was resumed in between.
bool CheckpointSchedule::begin_save(uint64_t step, Clock::time_point now) {
  const config::Period& every = options_.keep_every;
  const auto steps = static_cast<uint64_t>(every.steps);
  const bool pins = has_passed(every, now - pinned_) || (steps > 0 && step / steps > pinned_step_ / steps);
  saved_ = now;
  if (pins) {
    pinned_ = now;
    pinned_step_ = step;
  }
  return pins;
}

}  // namespace troupe::train
