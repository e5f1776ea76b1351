#include "tests/support/simulation/simulation.h"

#include <time.h>

#include <algorithm>
#include <stdexcept>

#include "tests/support/simulation/simulated_client.h"

namespace troupe::test {
namespace {

constexpr int64_t slow_thread = 100'000;          // nanoseconds that may pass while a job is ready
constexpr int64_t hang = 3600 * 1'000'000'000ll;  // nanoseconds after which an endless wait fails

/// Returns the processor time of this thread in nanoseconds.
int64_t processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000ll + time.tv_nsec;
}

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

bool Simulation::can_begin(uint32_t host, Thread thread) const {
  return !processors_ || host == everyone || processors_->can_begin(host, thread, now_);
}

void Simulation::after_job(std::function<void()> function) {
  if (!working_) return function();
  effects_.push_back(std::move(function));
}

void Simulation::for_free(const std::function<void()>& function) {
  if (!working_) return function();
  const int64_t begin = processor_time();
  function();
  spent_ -= static_cast<int64_t>(processors_->costs().work * static_cast<double>(processor_time() - begin));
}

void Simulation::work(uint32_t host, Thread thread, const std::function<void()>& function) {
  if (!processors_ || host == everyone) return function();
  working_ = true;
  spent_ = 0;
  const int64_t begin = processor_time();
  function();
  working_ = false;
  spent_ += static_cast<int64_t>(processors_->costs().work * static_cast<double>(processor_time() - begin));
  for (const auto& effect : std::exchange(effects_, {})) effect();
  const int64_t time = std::max<int64_t>(std::exchange(spent_, 0), 0);
  const int64_t core_free = processors_->occupy(host, thread, now_, time);
  for (const int64_t until : {now_ + time, core_free}) call_at(until, everyone, [] {});
}

bool Simulation::run_one(uint32_t host) {
  std::vector<Ready>::iterator chosen = jobs_.end();
  if (host == everyone && processors_) {
    chosen = std::ranges::find_if(jobs_,
                                  [this](const Ready& ready) { return can_begin(ready.host, ready.thread); });
    if (chosen == jobs_.end()) return false;
    const Ready ready = *chosen;
    jobs_.erase(chosen);
    work(ready.host, ready.thread, [&] { ready.job(); });
    return true;
  }
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
  std::ranges::copy_if(clients_, std::back_inserter(ready), [this](const SimulatedClient* client) {
    return can_begin(client->host(), Thread::Compute) && client->ready();
  });
  if (ready.empty()) return false;
  SimulatedClient& chosen = *ready[draw(ready.size())];
  work(chosen.host(), Thread::Compute, [&] { chosen.go_on(); });
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
  spent_ = 0;
}

bool Simulation::run_until(const std::function<bool()>& done, int64_t deadline, uint32_t host) {
  const int64_t last = deadline != 0 ? deadline : INT64_MAX;
  const auto timer_until = [&](int64_t time) {
    return host == everyone && !timers_.empty() && timers_.begin()->first.first <= time;
  };
  while (!done()) {
    if (host == everyone && run_client()) continue;
    if (!processors_ && !jobs_.empty() && timer_until(std::min(now_ + slow_thread, last)) && draw(16) == 0) {
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
