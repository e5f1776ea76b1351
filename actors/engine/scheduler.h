// Scheduler and Unit: where actors and steps run. A Unit is the run queue of one thread: a message sent by a job of the unit is
// handled by the same thread, after the sender returns; so a step that stays on one thread wakes no other thread. A Scheduler takes
// the jobs of threads without a unit, and can wait. The real scheduler has a control thread, a pool and two file threads; the
// simulated one chooses the next job by a seed. This header does not use CAF.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

#include "devices/flush_denormals.h"

namespace troupe {

/// A function to run once, with its argument: for example, an actor that has messages or a step that has ready nodes.
struct Job {
  void (*run)(void* what) = nullptr;
  void* what = nullptr;
  void operator()() const { run(what); }
};

/// Makes a job of a closure, which is deleted after it has run.
Job make_job(std::function<void()> function);

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // All functions may be called from any thread.

  /// Runs an actor's job soon, on the control thread.
  virtual void enqueue(Job job) = 0;
  /// Runs a computation soon, on the pool.
  virtual void compute(Job job) = 0;
  /// Runs a computation now on an idle thread of the pool. Returns false, and drops the computation, if no thread is idle.
  virtual bool try_compute(std::function<void()> computation) = 0;
  /// Runs a job that may block (work with files) on the file thread, one job at a time.
  virtual void block(Job job) = 0;
  /// Does the same on a thread of its own, to which the others leave little time while all processors are busy: for work with files
  /// that may last, and for which no step waits.
  virtual void block_in_background(Job job) { block(job); }
  /// Waits until `done` returns true, and returns true then; returns false after the deadline (nanoseconds of the steady clock; 0:
  /// none). Meanwhile the calling thread runs the ready jobs of its own unit. `done` must be cheap; it is called often, and after
  /// each wake().
  virtual bool wait(const std::function<bool()>& done, int64_t deadline) = 0;
  /// Makes waiting threads call their `done` again.
  virtual void wake() = 0;
};

/// How long a computation keeps its thread from other jobs.
enum class Computation : uint8_t {
  Lasts,   ///< it may keep the thread for as long as it runs
  Yields,  ///< if it runs for long, it lets other jobs run now and then (Unit::turn)
  Light,   ///< as Yields, and no part of it is long: it may also run on the control thread
};

/// The run queue of the thread that made it. A unit exists while that thread waits for an answer or drives a step. While it exists,
/// denormal floats are flushed to zero.
class Unit {
 public:
  /// No: the unit is the control thread's, and computations pushed here go to the pool, except light ones.
  enum class Computes : bool { No, Yes };
  explicit Unit(Scheduler& scheduler, Computes computes = Computes::Yes);
  /// Calls hand_over().
  ~Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  /// Returns the innermost unit of this thread that belongs to this scheduler, or null.
  static Unit* current(const Scheduler& scheduler);
  /// Makes `unit`, with the units around it, the innermost unit of this thread, and returns the previous innermost unit. For a
  /// thread that switches between several suspended callers.
  static Unit* exchange_innermost(Unit* unit);

  void push_actor(Job job) { actors_.push_back(job); }
  /// Queues a computation here if no other is queued, or if it yields and so do all that are queued. Gives it to the pool
  /// otherwise. So short computations stay on one thread, and none has to wait for a long one.
  void push_computation(Job job, Computation kind);
  bool idle() const { return actors_.empty() && computations_.empty(); }
  /// Gives all queued jobs to the scheduler.
  void hand_over();
  /// Does so for all units of this thread. For a thread that waits inside a job, so that no job behind it has to wait, too.
  static void hand_over_all();
  /// Runs actors until none is ready.
  void run_actors();
  /// Runs actors and computations, actors first, until no job is left.
  void run();
  /// As run(), but returns soon after `done` has become true, even if other jobs keep coming. `done` must be cheap.
  void run_until(const std::function<bool()>& done);
  /// For a long computation: runs the ready actors and hands over the queued computations.
  void turn();

 private:
  /// Runs an actor if one is ready, otherwise a computation.
  void run_one();

  const FlushDenormals flush_;
  Scheduler& scheduler_;
  Unit* outer_;
  Computes computes_;
  std::deque<Job> actors_;
  std::deque<Job> computations_;
  bool all_yield_ = true;  ///< whether all of `computations_` yield
};

/// These two give the job to the calling thread's unit if there is one, otherwise to the scheduler.
void run_actor_soon(Scheduler& scheduler, Job job);
void compute_soon(Scheduler& scheduler, Job job, Computation kind = Computation::Lasts);
/// Runs the function on the control thread and waits until it has returned. Must not be called on the control thread.
void run_on_control(Scheduler& scheduler, const std::function<void()>& function);

}  // namespace troupe
