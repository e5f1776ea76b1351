#include "actors/scheduler.h"

#include <atomic>
#include <memory>
#include <utility>

namespace troupe {
namespace {

thread_local Unit* innermost = nullptr;

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
  if (const Job job = std::exchange(computation_, {}); job.run) scheduler_.compute(job);
}

Unit* Unit::current(const Scheduler& scheduler) {
  Unit* unit = innermost;
  while (unit && &unit->scheduler_ != &scheduler) unit = unit->outer_;
  return unit;
}

void Unit::push_computation(Job job) {
  if (computation_.run || computing_ || computes_ == Computes::No)
    scheduler_.compute(job);
  else
    computation_ = job;
}

void Unit::run_actors() {
  while (!actors_.empty()) {
    const Job job = actors_.front();
    actors_.pop_front();
    job();
  }
}

void Unit::run() {
  while (!idle()) {
    run_actors();
    if (const Job job = std::exchange(computation_, {}); job.run) {
      computing_ = true;
      job();
      computing_ = false;
    }
  }
}

void run_actor_soon(Scheduler& scheduler, Job job) {
  if (Unit* unit = Unit::current(scheduler))
    unit->push_actor(job);
  else
    scheduler.enqueue(job);
}

void compute_soon(Scheduler& scheduler, Job job) {
  if (Unit* unit = Unit::current(scheduler))
    unit->push_computation(job);
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
