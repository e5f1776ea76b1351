#include "actors/engine/fair_turns.h"

#include <algorithm>
#include <utility>

namespace troupe {

struct FairTurns::Session::Line {
  std::deque<Waiting> waiting;
};

std::shared_ptr<FairTurns> FairTurns::make(Scheduler& scheduler, size_t threads) {
  return std::shared_ptr<FairTurns>(new FairTurns(scheduler, std::max<size_t>(threads, 1)));
}

FairTurns::Session::Session(std::shared_ptr<FairTurns> turns)
    : turns_(std::move(turns)), line_(std::make_shared<Line>()) {
  turns_->sessions_.fetch_add(1, std::memory_order_relaxed);
}

// What still waits keeps its place: every job must run.
FairTurns::Session::~Session() { turns_->sessions_.fetch_sub(1, std::memory_order_relaxed); }

void FairTurns::Session::compute(Job job, Computation kind) {
  if (kind == Computation::Light || turns_->sessions_.load(std::memory_order_relaxed) < 2)
    return compute_soon(turns_->scheduler_, job, kind);
  {
    const std::lock_guard lock(turns_->mutex_);
    if (turns_->running_ >= turns_->threads_) {
      if (line_->waiting.empty()) turns_->lines_.push_back(line_);
      line_->waiting.push_back({job, kind});
      return;
    }
    ++turns_->running_;
  }
  turns_->start({job, kind});
}

void FairTurns::start(const Waiting& waiting) {
  compute_soon(scheduler_, make_job([self = shared_from_this(), job = waiting.job] {
                 {
                   const HeldPlace place(*self);
                   job();
                 }
                 self->pass_on();
               }),
               waiting.kind);
}

void FairTurns::pass_on() {
  Waiting next;
  {
    const std::lock_guard lock(mutex_);
    if (lines_.empty() || running_ > threads_) {
      --running_;
      return;
    }
    const auto line = std::move(lines_.front());
    lines_.pop_front();
    next = line->waiting.front();
    line->waiting.pop_front();
    if (!line->waiting.empty()) lines_.push_back(line);
  }
  start(next);
}

void FairTurns::take_back() {
  const std::lock_guard lock(mutex_);
  ++running_;
}

}  // namespace troupe
