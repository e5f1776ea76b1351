#include "tests/support/simulation.h"

#include <algorithm>
#include <stdexcept>

#include "tests/support/simulated_client.h"

namespace troupe::test {
namespace {

constexpr int64_t slow_thread = 100'000;          // nanoseconds that may pass while a job is ready
constexpr int64_t hang = 3600 * 1'000'000'000ll;  // nanoseconds after which an endless wait fails

}  // namespace

TimerId Simulation::call_at(int64_t time, uint32_t host, std::function<void()> function) {
  const TimerId id = ++last_timer_;
  if (stopped_.contains(host)) return id;
  timers_.emplace(When{std::max(time, now_), id}, Timer{host, std::move(function)});
  due_.emplace(id, std::max(time, now_));
  return id;
}

void Simulation::cancel(TimerId timer) {
  const auto at = due_.find(timer);
  if (at == due_.end()) return;
  timers_.erase({at->second, timer});
  due_.erase(at);
}

void Simulation::stop_clock(uint32_t host) {
  stopped_.insert(host);
  std::vector<TimerId> gone;
  for (const auto& [when, timer] : timers_)
    if (timer.host == host) gone.push_back(when.second);
  for (const TimerId timer : gone) cancel(timer);
}

bool Simulation::run_one(uint32_t host) {
  std::vector<Ready>::iterator chosen = jobs_.end();
  if (host != everyone)
    chosen = std::ranges::find(jobs_, host, &Ready::host);
  else if (!jobs_.empty())
    chosen = jobs_.begin() + static_cast<int64_t>(draw(jobs_.size()));
  if (chosen == jobs_.end()) return false;
  std::swap(*chosen, jobs_.back());
  const Ready ready = jobs_.back();
  jobs_.pop_back();
  note(ready.host);
  ready.job();
  return true;
}

bool Simulation::run_client() {
  std::vector<SimulatedClient*> ready;
  std::ranges::copy_if(clients_, std::back_inserter(ready), &SimulatedClient::ready);
  if (ready.empty()) return false;
  ready[draw(ready.size())]->go_on();
  return true;
}

void Simulation::fire_next() {
  const auto first = timers_.begin();
  now_ = first->first.first;
  note(static_cast<uint64_t>(now_));
  const auto function = std::move(first->second.function);
  due_.erase(first->first.second);
  timers_.erase(first);
  function();
}

bool Simulation::run_until(const std::function<bool()>& done, int64_t deadline, uint32_t host) {
  const int64_t last = deadline != 0 ? deadline : INT64_MAX;
  const auto timer_until = [&](int64_t time) {
    return host == everyone && !timers_.empty() && timers_.begin()->first.first <= time;
  };
  while (!done()) {
    if (host == everyone && run_client()) continue;
    if (!jobs_.empty() && timer_until(std::min(now_ + slow_thread, last)) && draw(16) == 0) {
      fire_next();
    } else if (!run_one(host)) {
      if (!timer_until(last)) {
        now_ = std::max(now_, deadline);
        return false;
      }
      fire_next();
    }
  }
  return true;
}

void Simulation::run_ready() {
  while (run_one(everyone)) {
  }
}

void Simulation::pass(int64_t nanoseconds) {
  run_until([] { return false; }, now_ + nanoseconds);
}

void SimulatedHost::crash() {
  crashed_ = true;
  simulation_.stop_clock(number_);
}

bool SimulatedHost::wait(const std::function<bool()>& done, int64_t deadline) {
  Unit* unit = Unit::current(*this);
  const auto handed_over = [&] {
    if (unit) unit->hand_over();
    return done();
  };
  if (crashed_) return simulation_.run_until(handed_over, 0, number_);
  if (SimulatedClient* const client = SimulatedClient::current()) return client->wait(handed_over, deadline);
  const bool bounded = deadline != 0;
  const bool happened = simulation_.run_until(handed_over, bounded ? deadline : simulation_.now() + hang);
  if (!happened && !bounded) throw std::logic_error("a wait without a deadline does not end");
  return happened;
}

}  // namespace troupe::test
