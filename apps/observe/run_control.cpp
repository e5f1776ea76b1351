#include "apps/observe/run_control.h"

#include <charconv>

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

void RunControl::ask(const std::string& action, const std::string& argument, Done done) {
  const auto answer = [&](const Status& status) { status.ok() ? done(std::string()) : done(status); };
  if (action == "drain" || action == "add" || action == "backups")
    return ask_with_argument(action, argument, std::move(done));
  if (!argument.empty()) return answer(invalid_argument(action + " does not take '" + argument + "'"));
  if (action == "pause") return answer(set_paused(true));
  if (action == "resume") return answer(set_paused(false));
  if (action == "stop") {
    stop();
    return answer({});
  }
  if (action == "checkpoint") return add({.kind = Request::Kind::Checkpoint, .done = std::move(done)});
  answer(not_found(
      "'" + action +
      "' is unknown; known: pause, resume, checkpoint, stop, drain TASK, add TASK, backups NUMBER"));
}

void RunControl::ask_with_argument(const std::string& action, const std::string& argument, Done done) {
  if (action != "backups") {
    if (argument.empty())
      return done(invalid_argument(action + " needs the name of a task, such as worker/1 or ps/0"));
    const auto kind = action == "add" ? Request::Kind::Add : Request::Kind::Drain;
    return add({.kind = kind, .done = std::move(done), .task = argument});
  }
  uint32_t backups = 0;
  const char* const end = argument.data() + argument.size();
  if (const auto [last, error] = std::from_chars(argument.data(), end, backups);
      error != std::errc() || last != end)
    return done(invalid_argument(
        "backups needs the number of shards for which a round does not wait, such as 1; found '" + argument +
        "'"));
  add({.kind = Request::Kind::Backups, .done = std::move(done), .backups = backups});
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
