// InlineScheduler: actors in one thread under virtual time. Jobs wait until run() takes them, in an order drawn from the seed;
// time passes only when it is told to. For tests of single roles; one thread.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "actors/scheduler.h"
#include "messages/env.h"

namespace troupe::test {

class InlineScheduler final : public Scheduler, public Clock {
 public:
  explicit InlineScheduler(uint64_t seed = 0) : random_(seed) {}

  /// Runs jobs until none is left.
  void run();
  /// Runs what is left, then lets time pass, firing timers in their order.
  void pass(int64_t nanoseconds);
  size_t timers() const { return timers_.size(); }

  void enqueue(Job job) override { jobs_.push_back(job); }
  void compute(Job job) override { jobs_.push_back(job); }
  void block(Job job) override { jobs_.push_back(job); }
  bool wait(const std::function<bool()>& done, int64_t deadline) override;
  void wake() override {}

  int64_t now() const override { return now_; }
  TimerId call_at(int64_t time, std::function<void()> function) override;
  void cancel(TimerId timer) override;

 private:
  struct Timer {
    TimerId id = 0;
    std::function<void()> function;
  };
  bool run_one();
  void fire_next();

  std::mt19937_64 random_;
  std::vector<Job> jobs_;
  std::multimap<int64_t, Timer> timers_;
  int64_t now_ = 0;
  TimerId last_timer_ = 0;
};

}  // namespace troupe::test
