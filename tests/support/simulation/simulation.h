// Simulation: the time, random numbers and job queue of whole clusters of real actors, in one thread. The seed
// decides which of the ready jobs runs next. Time passes when no job is ready; it also passes a little while jobs are
// ready, as if a thread were slow. The same seed gives the same run, job by job, which trace() can prove. One thread.
#pragma once

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "actors/engine/scheduler.h"
#include "messages/env/env.h"
#include "tests/support/simulation/simulated_processors.h"

namespace troupe::test {

class SimulatedClient;

class Simulation {
 public:
  static constexpr uint32_t everyone = 0;
  using Thread = SimulatedProcessors::Thread;

  explicit Simulation(uint64_t seed = 0) : random_(seed) {}
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  int64_t now() const { return now_; }
  /// Returns a random number in [0, below).
  uint64_t draw(uint64_t below) { return random_() % below; }
  bool chance(double probability) { return std::uniform_real_distribution<>()(random_) < probability; }

  /// From now on what hosts do takes time on these processors, which must outlive the simulation; null: it takes none.
  void set_processors(SimulatedProcessors* processors) { processors_ = processors; }
  SimulatedProcessors* processors() const { return processors_; }
  /// Calls a function when the job that is running has ended and its time is known: at once if jobs take no time.
  void after_job(std::function<void()> function);
  /// Adds to the time of the job that is running or has just ended.
  void spend(int64_t nanoseconds) { spent_ += nanoseconds; }
  /// Returns when the job that has just ended will be over: now if jobs take no time.
  int64_t end_of_job() const { return now_ + spent_; }
  /// Calls a function whose time does not count as work of the job that is running.
  void for_free(const std::function<void()>& function);

  /// Adds a job of `host` (a number from 1).
  void add(Job job, uint32_t host, Thread thread = Thread::Control) { jobs_.push_back({job, host, thread}); }
  void add(SimulatedClient& client) { clients_.push_back(&client); }
  void remove(SimulatedClient& client) { std::erase(clients_, &client); }
  TimerId call_at(int64_t time, uint32_t host, std::function<void()> function);
  void cancel(TimerId timer);
  /// From now on timers of the host neither fire nor are set.
  void stop_clock(uint32_t host);
  size_t timers() const { return timers_.size(); }
  uint32_t new_host() { return ++hosts_; }

  /// Runs jobs and timers until `done` returns true, or nothing is left to run, or the next timer is after the
  /// deadline (0: none). Returns whether it is done. If a host is given, only its jobs run, and no time passes.
  bool run_until(const std::function<bool()>& done, int64_t deadline = 0, uint32_t host = everyone);
  /// Runs all ready jobs, and the jobs that these make ready. No time passes.
  void run_ready();
  /// Runs all ready jobs, then lets time pass and runs what becomes ready.
  void pass(int64_t nanoseconds);

  /// Adds an event to the trace. Equal runs have equal traces.
  void note(uint64_t what) { trace_ = (trace_ ^ what) * 0x100000001b3; }
  uint64_t trace() const { return trace_; }

 private:
  struct Ready {
    Job job;
    uint32_t host = 0;
    Thread thread = Thread::Control;
  };
  struct Timer {
    uint32_t host = 0;
    std::function<void()> function;
  };
  using When = std::pair<int64_t, TimerId>;

  bool run_one(uint32_t host);
  bool run_client();
  /// Runs what a host does, which takes time if there are processors.
  void work(uint32_t host, Thread thread, const std::function<void()>& function);
  bool can_begin(uint32_t host, Thread thread) const;
  void fire_next();

  std::mt19937_64 random_;
  int64_t now_ = 0;
  uint32_t hosts_ = 0;
  std::vector<Ready> jobs_;
  std::vector<SimulatedClient*> clients_;
  std::map<When, Timer> timers_;
  std::map<TimerId, int64_t> due_;
  std::set<uint32_t> stopped_;
  TimerId last_timer_ = 0;
  SimulatedProcessors* processors_ = nullptr;
  bool working_ = false;
  int64_t spent_ = 0;  ///< by the job that is running or has just ended, besides the time that is measured
  std::vector<std::function<void()>> effects_;  ///< of the job that is running
  uint64_t trace_ = 0xcbf29ce484222325;
};

/// One host of a simulation, as its actors see it.
class SimulatedHost : public Scheduler, public Clock {
 public:
  explicit SimulatedHost(Simulation& simulation) : simulation_(simulation), number_(simulation.new_host()) {}
  /// Removes its timers.
  ~SimulatedHost() override { simulation_.stop_clock(number_); }

  uint32_t number() const { return number_; }
  /// Removes its timers. From now on its waits run only its own jobs, which take down its actors.
  void crash();
  bool crashed() const { return crashed_; }

  void enqueue(Job job) override { simulation_.add(job, number_); }
  void compute(Job job) override { simulation_.add(job, number_, Simulation::Thread::Compute); }
  bool try_compute(std::function<void()>) override { return false; }
  void block(Job job) override { simulation_.add(job, number_); }
  /// Throws if a wait without a deadline would never end.
  bool wait(const std::function<bool()>& done, int64_t deadline) override;
  void wake() override {}

  int64_t now() const override { return simulation_.now(); }
  TimerId call_at(int64_t time, std::function<void()> function) override {
    return simulation_.call_at(time, number_, std::move(function));
  }
  void cancel(TimerId timer) override { simulation_.cancel(timer); }

 private:
  Simulation& simulation_;
  const uint32_t number_;
  bool crashed_ = false;
};

}  // namespace troupe::test
