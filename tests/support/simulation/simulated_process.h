// SimulatedProcess: the Process of a simulated host. Its blocking threads are clients of the simulation, which run in turn on the
// simulation's thread. Owned by the host's life; must be destroyed after the threads. One thread.
#pragma once

#include "messages/env/process.h"
#include "tests/support/simulation/simulation.h"

namespace troupe::test {

class SimulatedProcess final : public Process {
 public:
  SimulatedProcess(Simulation& simulation, SimulatedHost& host) : simulation_(simulation), host_(host) {}

  std::unique_ptr<Signal> signal() override;
  /// The destructor of the thread ends its body where it waits if the host has crashed.
  std::unique_ptr<BlockingThread> start_thread(std::function<void()> body) override;
  /// A simulated process uses no time, so that runs do not depend on the real machine.
  uint64_t processor_time() const override { return 0; }
  uint64_t random_id() override { return simulation_.draw(UINT64_MAX) | 1; }

 private:
  Simulation& simulation_;
  SimulatedHost& host_;
};

}  // namespace troupe::test
