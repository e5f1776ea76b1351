#include "actors/engine/scheduler.h"

#include <atomic>
#include <memory>
#include <utility>

namespace troupe {
namespace {

thread_local Unit* innermost = nullptr;

/// A thread that waits runs this many jobs of its own unit before it looks whether it is done. They are usually the rest of the
/// work that led to its answer; handing them over would wake another thread.
constexpr size_t jobs_before_done = 64;

}  // namespace

Job make_job(std::function<void()> function) {
  return {[](void* what) {
            const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(what));
            (*owned)();
          },
          new std::function<void()>(std::move(function))};
}

Unit::Unit(Scheduler& scheduler, Computes computes)
    : scheduler_(scheduler), outer_(innermost), computes_(computes) {
  innermost = this;
}

Unit::~Unit() {
  innermost = outer_;
  hand_over();
}

void Unit::hand_over() {
  for (const Job& job : actors_) scheduler_.enqueue(job);
  actors_.clear();
  for (const Job& job : computations_) scheduler_.compute(job);
  computations_.clear();
}

void Unit::hand_over_all() {
  for (Unit* unit = innermost; unit; unit = unit->outer_) unit->hand_over();
}

Unit* Unit::current(const Scheduler& scheduler) {
  Unit* unit = innermost;
  while (unit && &unit->scheduler_ != &scheduler) unit = unit->outer_;
  return unit;
}

Unit* Unit::exchange_innermost(Unit* unit) { return std::exchange(innermost, unit); }

void Unit::push_computation(Job job, Computation kind) {
  if (computations_.empty()) all_yield_ = true;
  const bool yield = all_yield_ && kind != Computation::Lasts;
  const bool allowed = computes_ == Computes::Yes || kind == Computation::Light;
  if (!allowed || !(computations_.empty() || yield)) return scheduler_.compute(job);
  computations_.push_back(job);
  all_yield_ = yield;
}

void Unit::run_one() {
  std::deque<Job>& jobs = actors_.empty() ? computations_ : actors_;
  const Job job = jobs.front();
  jobs.pop_front();
  job();
}

void Unit::run_actors() {
  while (!actors_.empty()) run_one();
}

void Unit::run() {
  while (!idle()) run_one();
}

void Unit::run_until(const std::function<bool()>& done) {
  for (size_t jobs = 0; !idle() && (jobs < jobs_before_done || !done()); ++jobs) run_one();
}

void Unit::turn() {
  run_actors();
  hand_over();
}

void run_actor_soon(Scheduler& scheduler, Job job) {
  if (Unit* unit = Unit::current(scheduler))
    unit->push_actor(job);
  else
    scheduler.enqueue(job);
}

void compute_soon(Scheduler& scheduler, Job job, Computation kind) {
  if (Unit* unit = Unit::current(scheduler))
    unit->push_computation(job, kind);
  else
    scheduler.compute(job);
}

void run_on_control(Scheduler& scheduler, const std::function<void()>& function) {
  std::atomic<bool> done{false};
  scheduler.enqueue(make_job([&] {
    function();
    done.store(true, std::memory_order_release);
    scheduler.wake();
  }));
  scheduler.wait([&] { return done.load(std::memory_order_acquire); }, 0);
}

}  // namespace troupe
