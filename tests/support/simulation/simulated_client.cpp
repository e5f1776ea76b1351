#include "tests/support/simulation/simulated_client.h"

#include <utility>

namespace troupe::test {
namespace {

SimulatedClient* running = nullptr;

}  // namespace

SimulatedClient::SimulatedClient(Simulation& simulation, std::function<void()> body, uint32_t host)
    : simulation_(simulation), body_(std::move(body)), host_(host), fiber_([this] { run(); }) {
  simulation_.add(*this);
}

SimulatedClient::~SimulatedClient() {
  simulation_.remove(*this);
  ending_ = true;
  while (!ended()) go_on();
}

void SimulatedClient::run() {
  try {
    if (!ending_) body_();
  } catch (const Ended&) {
  } catch (...) {
    failure_ = std::current_exception();
  }
}

SimulatedClient* SimulatedClient::current() { return running; }

void SimulatedClient::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

bool SimulatedClient::ready() const {
  return !ended() && (!done_ || (*done_)() || (deadline_ != 0 && simulation_.now() >= deadline_));
}

void SimulatedClient::go_on() {
  SimulatedClient* const before = std::exchange(running, this);
  Unit* const others = Unit::exchange_innermost(units_);
  fiber_.enter();
  units_ = Unit::exchange_innermost(others);
  running = before;
}

bool SimulatedClient::wait(const std::function<bool()>& done, int64_t deadline) {
  if (done()) return true;
  // Time passes in steps from timer to timer.
  if (deadline != 0) simulation_.call_at(deadline, Simulation::everyone, [] {});
  done_ = &done;
  deadline_ = deadline;
  fiber_.leave();
  done_ = nullptr;
  if (ending_) throw Ended();
  return done();
}

}  // namespace troupe::test
