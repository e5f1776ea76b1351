// SimulatedClient: a caller of the library in a simulation, one of several at a time, each written as if it were alone: wherever it
// waits, the others and the whole simulation go on. It runs on the simulation's thread, on a stack of its own; the seed decides who
// goes on next.
#pragma once

#include <exception>
#include <functional>

#include "tests/support/fiber.h"
#include "tests/support/simulation.h"

namespace troupe::test {

class SimulatedClient {
 public:
  /// `body` begins when the simulation gets to it. It must not wait while it handles an exception.
  SimulatedClient(Simulation& simulation, std::function<void()> body);
  /// Ends it where it waits: what it stands on must have crashed, or it must have ended.
  ~SimulatedClient();
  SimulatedClient(const SimulatedClient&) = delete;
  SimulatedClient& operator=(const SimulatedClient&) = delete;

  bool ended() const { return fiber_.ended(); }
  /// Throws what the body threw.
  void rethrow() const;

  /// The one that runs, or null.
  static SimulatedClient* current();
  /// From within: Scheduler::wait, the rest of the simulation going on.
  bool wait(const std::function<bool()>& done, int64_t deadline);

  /// For the simulation: whether it has something to do, and lets it do that until it waits again.
  bool ready() const;
  void go_on();

 private:
  struct Ended {};  ///< thrown by wait() so that the body goes
  void run();

  Simulation& simulation_;
  const std::function<void()> body_;
  Fiber fiber_;
  Unit* units_ = nullptr;                        ///< its own, while it stands still
  const std::function<bool()>* done_ = nullptr;  ///< what it waits for
  int64_t deadline_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
};

}  // namespace troupe::test
