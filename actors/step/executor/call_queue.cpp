#include "actors/step/executor/call_queue.h"

#include "actors/step/executor/function_step.h"

namespace troupe {
namespace {

/// So many calls must be ready before another thread is woken for them.
constexpr size_t worth_waking = 4;

}  // namespace

void CallQueue::push(std::shared_ptr<FunctionStep> call) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(call));
    first = drivers_ == 0;
    if (!first && (ready_.size() < worth_waking || drivers_ >= node_.pool.threads())) return;
    ++drivers_;
  }
  if (!first && node_.scheduler.try_compute([self = shared_from_this()] { self->run(); })) return;
  if (!first) {
    const std::lock_guard lock(mutex_);
    if (drivers_ > 1 || ready_.empty()) {
      --drivers_;
      return;
    }
  }
  compute_soon(node_.scheduler, make_job([self = shared_from_this()] { self->run(); }), Computation::Yields);
}

void CallQueue::run() {
  int64_t last_turn = node_.env.clock.now();
  while (true) {
    std::shared_ptr<FunctionStep> call;
    {
      const std::lock_guard lock(mutex_);
      if (ready_.empty()) {
        --drivers_;
        return;
      }
      call = std::move(ready_.back());
      ready_.pop_back();
    }
    call->drive();
    call.reset();
    if (node_.env.clock.now() - last_turn < max_without_turn) continue;
    if (Unit* unit = Unit::current(node_.scheduler)) unit->turn();
    last_turn = node_.env.clock.now();
  }
}

Status CallQueue::enter(FunctionStep& call) {
  const std::lock_guard lock(mutex_);
  if (stopped_.ok()) running_.insert(&call);
  return stopped_;
}

void CallQueue::leave(FunctionStep& call) {
  const std::lock_guard lock(mutex_);
  running_.erase(&call);
}

void CallQueue::fail(const Status& status) { step_.cancel(status); }

void CallQueue::stop(const Status& reason) {
  std::vector<std::shared_ptr<ServedStep>> running;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = reason;
    for (FunctionStep* const call : running_) running.push_back(call->shared_from_this());
  }
  for (const auto& call : running) call->cancel(reason);
}

}  // namespace troupe
