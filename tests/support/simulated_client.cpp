#include "tests/support/simulated_client.h"

#include <utility>

namespace troupe::test {
namespace {

thread_local SimulatedClient* of_this_thread = nullptr;

}  // namespace

SimulatedClient::SimulatedClient(Simulation& simulation, std::function<void()> body)
    : simulation_(simulation), body_(std::move(body)), thread_([this] { run(); }) {
  simulation_.add(*this);
}

SimulatedClient::~SimulatedClient() {
  simulation_.remove(*this);
  ending_ = true;
  while (!ended_) go_on();
  thread_.join();
}

void SimulatedClient::run() {
  mine_.acquire();
  of_this_thread = this;
  try {
    if (!ending_) body_();
  } catch (const Ended&) {
  } catch (...) {
    failure_ = std::current_exception();
  }
  ended_ = true;
  others_.release();
}

SimulatedClient* SimulatedClient::current() { return of_this_thread; }

void SimulatedClient::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

bool SimulatedClient::ready() const {
  return !ended_ && (!done_ || (*done_)() || (deadline_ != 0 && simulation_.now() >= deadline_));
}

void SimulatedClient::go_on() {
  mine_.release();
  others_.acquire();
}

bool SimulatedClient::wait(const std::function<bool()>& done, int64_t deadline) {
  if (done()) return true;
  // Time passes from timer to timer.
  if (deadline != 0) simulation_.call_at(deadline, Simulation::everyone, [] {});
  done_ = &done;
  deadline_ = deadline;
  others_.release();
  mine_.acquire();
  done_ = nullptr;
  if (ending_) throw Ended();
  return done();
}

}  // namespace troupe::test
