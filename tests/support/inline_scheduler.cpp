#include "tests/support/inline_scheduler.h"

#include <algorithm>
#include <utility>

namespace troupe::test {

bool InlineScheduler::run_one() {
  if (jobs_.empty()) return false;
  std::swap(jobs_[random_() % jobs_.size()], jobs_.back());
  const Job job = jobs_.back();
  jobs_.pop_back();
  job();
  return true;
}

void InlineScheduler::run() {
  while (run_one()) {
  }
}

void InlineScheduler::fire_next() {
  const auto first = timers_.begin();
  now_ = std::max(now_, first->first);
  const auto function = std::move(first->second.function);
  timers_.erase(first);
  function();
}

void InlineScheduler::pass(int64_t nanoseconds) {
  const int64_t until = now_ + nanoseconds;
  run();
  while (!timers_.empty() && timers_.begin()->first <= until) {
    fire_next();
    run();
  }
  now_ = until;
}

bool InlineScheduler::wait(const std::function<bool()>& done, int64_t deadline) {
  Unit* unit = Unit::current(*this);
  while (!done()) {
    if (unit) unit->hand_over();
    if (run_one()) continue;
    if (timers_.empty() || (deadline != 0 && timers_.begin()->first > deadline)) return false;
    fire_next();
  }
  return true;
}

TimerId InlineScheduler::call_at(int64_t time, std::function<void()> function) {
  timers_.emplace(time, Timer{++last_timer_, std::move(function)});
  return last_timer_;
}

void InlineScheduler::cancel(TimerId timer) {
  const auto at = std::ranges::find(timers_, timer, [](const auto& entry) { return entry.second.id; });
  if (at != timers_.end()) timers_.erase(at);
}

}  // namespace troupe::test
