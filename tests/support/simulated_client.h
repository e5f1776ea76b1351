// SimulatedClient: a caller of the library in a simulation, one of several at a time, each written as if it were alone: wherever it
// waits, the others and the whole simulation go on. It has a thread of its own, which runs only while the simulation's stands
// still; so nothing ever happens at once, and the seed decides who goes on next.
#pragma once

#include <exception>
#include <functional>
#include <semaphore>
#include <thread>

#include "tests/support/simulation.h"

namespace troupe::test {

class SimulatedClient {
 public:
  /// `body` begins when the simulation gets to it.
  SimulatedClient(Simulation& simulation, std::function<void()> body);
  /// Ends it where it waits: what it stands on must have crashed, or it must have ended.
  ~SimulatedClient();

  bool ended() const { return ended_; }
  /// Throws what the body threw.
  void rethrow() const;

  /// The one whose thread this is, or null.
  static SimulatedClient* current();
  /// On its own thread: Scheduler::wait, the rest of the simulation going on.
  bool wait(const std::function<bool()>& done, int64_t deadline);

  /// For the simulation: whether it has something to do, and lets it do that until it waits again.
  bool ready() const;
  void go_on();

 private:
  struct Ended {};  ///< thrown by wait() so that the body goes
  void run();

  Simulation& simulation_;
  const std::function<void()> body_;
  std::binary_semaphore mine_{0}, others_{0};    ///< whose turn it is
  const std::function<bool()>* done_ = nullptr;  ///< what it waits for
  int64_t deadline_ = 0;
  bool ended_ = false, ending_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace troupe::test
