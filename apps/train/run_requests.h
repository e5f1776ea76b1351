// What a run does between two rounds because its user asks for it (apps/observe/run_control.h). The thread of the trainer.
#pragma once

#include <functional>
#include <string>

#include "apps/observe/run_control.h"
#include "apps/observe/run_monitor.h"
#include "apps/train/rounds/rounds.h"

namespace troupe::train {

/// How a run does what it is asked.
struct RunActions {
  /// Carries out a request. May throw Error, which ends the run.
  std::function<Result<std::string>(const observe::RunControl::Request&)> carry_out;
  std::function<void(const std::string&)> print;
  std::function<bool()> is_stopped;  ///< returns whether the run is to end, so that no pause goes on
};

/// Carries out what is asked of the run after `step`, and returns when it is not paused.
void heed_requests(observe::RunControl& control, observe::RunMonitor& monitor, uint64_t step,
                   const RunActions& actions);

/// Carries out a request that concerns the rounds after `step`: which tasks take part, and how many shards a round waits for. Fails
/// as the functions of `rounds` do.
Status change_rounds(Rounds& rounds, const observe::RunControl::Request& request, uint64_t step);

}  // namespace troupe::train
