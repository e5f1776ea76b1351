#include "apps/train/run_requests.h"

#include <chrono>
#include <utility>

namespace troupe::train {
namespace {

void carry_out(const observe::RunControl::Request& request, const RunActions& actions) {
  try {
    request.done(actions.carry_out(request));
  } catch (const Error& error) {
    request.done(error.status());
    throw;
  }
}

}  // namespace

void heed_requests(observe::RunControl& control, observe::RunMonitor& monitor, uint64_t step,
                   const RunActions& actions) {
  bool was_paused = false;
  for (;;) {
    for (const auto& request : control.take_requests()) carry_out(request, actions);
    if (!control.paused() || actions.is_stopped()) break;
    if (!std::exchange(was_paused, true)) actions.print("paused after step " + std::to_string(step));
    const observe::PhaseScope paused(monitor, observe::Phase::Paused);
    control.await(std::chrono::milliseconds(100));
  }
  if (was_paused) actions.print(actions.is_stopped() ? "the pause ends with the run" : "resumed");
}

Status change_rounds(Rounds& rounds, const observe::RunControl::Request& request, uint64_t step) {
  using Kind = observe::RunControl::Request::Kind;
  if (request.kind == Kind::Backups) return rounds.set_backups(request.backups);
  return rounds.set_drained(request.task, request.kind == Kind::Drain, step);
}

}  // namespace troupe::train
