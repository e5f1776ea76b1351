#include "apps/observe/run_control.h"

namespace troupe::observe {

Status RunControl::set_paused(bool paused) {
  const std::lock_guard lock(mutex_);
  if (!open_) return refusal();
  paused_ = paused;
  changed_.notify_all();
  return {};
}

void RunControl::stop() {
  stop_();
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void RunControl::ask(const std::string& action, const std::string& task, Done done) {
  const auto answer = [&](const Status& status) { status.ok() ? done(std::string()) : done(status); };
  const bool moves = action == "drain" || action == "add";
  if (moves && task.empty())
    return answer(invalid_argument(action + " needs the name of a worker, such as worker/1"));
  if (!moves && !task.empty()) return answer(invalid_argument(action + " does not take a worker"));
  if (action == "pause") return answer(set_paused(true));
  if (action == "resume") return answer(set_paused(false));
  if (action == "stop") {
    stop();
    return answer({});
  }
  if (action == "checkpoint") return add({Request::Kind::Checkpoint, {}, std::move(done)});
  if (moves) return add({action == "add" ? Request::Kind::Add : Request::Kind::Drain, task, std::move(done)});
  answer(
      not_found("'" + action + "' is unknown; known: pause, resume, checkpoint, stop, drain TASK, add TASK"));
}

void RunControl::add(Request request) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) {
      requests_.push_back(std::move(request));
      changed_.notify_all();
      return;
    }
  }
  request.done(refusal());
}

void RunControl::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
}

void RunControl::close() {
  std::vector<Request> requests;
  {
    const std::lock_guard lock(mutex_);
    open_ = paused_ = false;
    requests.swap(requests_);
  }
  for (const Request& request : requests) request.done(refusal());
}

bool RunControl::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

std::vector<RunControl::Request> RunControl::take_requests() {
  const std::lock_guard lock(mutex_);
  return std::exchange(requests_, {});
}

void RunControl::await(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return !paused_ || !requests_.empty(); });
}

}  // namespace troupe::observe
