// Where actors and steps run. A Unit is the run queue of one thread: messages sent by what runs on it are handled by the same
// thread, after the sender returns; so a step that stays on one thread wakes no other. A Scheduler takes what comes from threads
// without a unit and knows how to wait: a real one has a control thread, a pool and a file thread, a simulated one chooses the
// next job by seed. Free of CAF: a job is a function and a pointer.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

#include "devices/flush_denormals.h"

namespace troupe {

/// Something to run once. Plain, two words: an actor with messages waiting, or a step with nodes ready.
struct Job {
  void (*run)(void* what) = nullptr;
  void* what = nullptr;
  void operator()() const { run(what); }
};

/// A closure as a job; it is deleted after it ran.
Job make_job(std::function<void()> function);

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// Runs an actor's job soon, on the control thread. Any thread.
  virtual void enqueue(Job job) = 0;
  /// Runs a computation soon, where computing is allowed (the pool). Any thread.
  virtual void compute(Job job) = 0;
  /// Runs a computation now on a thread of the pool that has nothing to do, beside the caller. False, and the computation is dropped,
  /// when there is none. Any thread.
  virtual bool try_compute(std::function<void()> computation) = 0;
  /// Runs a job that may block (files), on the file thread: one at a time. Any thread.
  virtual void block(Job job) = 0;
  /// Returns when `done` or after the deadline (steady clock, nanoseconds; 0: none): true when done. The caller's thread runs
  /// ready jobs of its own unit meanwhile. `done` may be called often and must be cheap; `wake` re-examines it.
  virtual bool wait(const std::function<bool()>& done, int64_t deadline) = 0;
  /// Something that a waiting thread may be waiting for has happened. Any thread.
  virtual void wake() = 0;
};

/// What a computation means for others that want its thread.
enum class Computation : uint8_t {
  Lasts,   ///< as long as it takes
  Yields,  ///< when it lasts it lets others have the thread now and then (Unit::turn)
  Light,   ///< the same, and no part of it lasts: also for the control thread
};

/// The run queue of the thread that made it. Exists while that thread waits for an answer or drives a step, with denormal floats
/// flushed to zero.
class Unit {
 public:
  enum class Computes : bool {
    No,
    Yes
  };  ///< No: computations pushed here go to the pool, but for light ones, as on the control thread
  explicit Unit(Scheduler& scheduler, Computes computes = Computes::Yes);
  ~Unit();  ///< hands over
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  /// The innermost unit of this thread for that scheduler, or null.
  static Unit* current(const Scheduler& scheduler);
  /// For a thread on which several callers stand still and go on in turn: makes this the innermost unit, those around it with it, and
  /// returns which was.
  static Unit* exchange_innermost(Unit* unit);

  void push_actor(Job job) { actors_.push_back(job); }
  /// Takes a computation that finds no other here, or only such as yield and does so itself; any other goes to the pool. So what
  /// is short stays on one thread, and nothing queues up behind what lasts.
  void push_computation(Job job, Computation kind);
  bool idle() const { return actors_.empty() && computations_.empty(); }
  /// Gives what is queued to the scheduler.
  void hand_over();
  /// Runs actors until none is ready.
  void run_actors();
  /// Runs actors, then computations, until nothing is left.
  void run();
  /// The same, but returns soon after `done` has become true, even when other threads keep adding jobs. `done` must be cheap.
  void run_until(const std::function<bool()>& done);
  /// From a computation that lasts: runs actors and hands over the computations behind it.
  void turn();

 private:
  /// An actor if one is ready, else a computation.
  void run_one();

  const FlushDenormals flush_;
  Scheduler& scheduler_;
  Unit* outer_;
  Computes computes_;
  std::deque<Job> actors_;
  std::deque<Job> computations_;
  bool all_yield_ = true;  ///< of those
};

/// Gives the job to this thread's unit when it has one, else to the scheduler.
void run_actor_soon(Scheduler& scheduler, Job job);
void compute_soon(Scheduler& scheduler, Job job, Computation kind = Computation::Lasts);
/// Runs the function on the control thread and waits for it. Not from there.
void run_on_control(Scheduler& scheduler, const std::function<void()>& function);

}  // namespace troupe
