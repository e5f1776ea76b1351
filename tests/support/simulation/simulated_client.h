// SimulatedClient: a caller of the library in a simulation. There may be several at a time. Each is
// written as if it were alone: where it waits, the simulation and the other clients continue. A client
// runs on the simulation's thread, on a stack of its own. The seed decides which client continues next.
#pragma once

#include <exception>
#include <functional>

#include "tests/support/simulation/fiber.h"
#include "tests/support/simulation/simulation.h"

namespace troupe::test {

class SimulatedClient {
 public:
  /// The simulation starts `body` later. The body must not wait while it handles an exception. What it does takes the processors of
  /// `host` time, if the simulation has processors.
  SimulatedClient(Simulation& simulation, std::function<void()> body, uint32_t host = Simulation::everyone);
  /// Ends the body where it waits. The body must have ended, or the node that it uses must have crashed.
  ~SimulatedClient();
  SimulatedClient(const SimulatedClient&) = delete;
  SimulatedClient& operator=(const SimulatedClient&) = delete;

  uint32_t host() const { return host_; }
  bool ended() const { return fiber_.ended(); }
  /// Throws the exception that the body threw, if any.
  void rethrow() const;

  /// Returns the client that is running, or null.
  static SimulatedClient* current();
  /// Call from within the body: does what Scheduler::wait does, while the rest of the simulation continues.
  bool wait(const std::function<bool()>& done, int64_t deadline);

  /// For the simulation: ready() returns true if the client has something to do; go_on() lets it do that until it waits again.
  bool ready() const;
  void go_on();

 private:
  struct Ended {};  ///< thrown by wait() to end the body
  void run();

  Simulation& simulation_;
  const std::function<void()> body_;
  const uint32_t host_;
  Fiber fiber_;
  Unit* units_ = nullptr;                        ///< the units of its thread, while the body is suspended
  const std::function<bool()>* done_ = nullptr;  ///< the condition for which it waits
  int64_t deadline_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
};

}  // namespace troupe::test
