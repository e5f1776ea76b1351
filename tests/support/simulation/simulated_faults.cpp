#include "tests/support/simulation/simulated_faults.h"

namespace troupe::test {
namespace {

constexpr int64_t millisecond = 1'000'000;

}  // namespace

SimulatedFaults::SimulatedFaults(SimulatedCluster& cluster, const Faults& faults, std::vector<size_t> mortal,
                                 std::function<void(size_t)> started)
    : cluster_(cluster), rarity_(faults.rarity), mortal_(std::move(mortal)), started_(std::move(started)) {
  cluster_.network().set_faults(faults.network);
  if (faults.crashes) later(&SimulatedFaults::crash_some);
  if (faults.partitions) later(&SimulatedFaults::part_two);
}

void SimulatedFaults::later(void (SimulatedFaults::*what)()) {
  Simulation& simulation = cluster_.simulation();
  const auto delay = static_cast<int64_t>(simulation.draw(30)) * millisecond / 10;
  simulation.call_at(simulation.now() + delay, Simulation::everyone, [this, what] {
    if (!over_) (this->*what)();
  });
}

// Returns true once in so many calls, and far less often while there are other faults, because else nothing would ever work again.
bool SimulatedFaults::strikes(uint64_t in) {
  return cluster_.simulation().draw((cluster_.complete() ? in : in * 300) * rarity_) == 0;
}

// Now and then, two machines crash at once, as those of one rack do.
void SimulatedFaults::crash_some() {
  Simulation& simulation = cluster_.simulation();
  const auto any = [&] { return mortal_[simulation.draw(mortal_.size())]; };
  if (const size_t machine = any(); cluster_.up(machine) && strikes(3)) {
    crash(machine);
    if (const size_t other = any(); simulation.draw(4) == 0 && cluster_.up(other)) crash(other);
  }
  later(&SimulatedFaults::crash_some);
}

void SimulatedFaults::crash(size_t machine) {
  Simulation& simulation = cluster_.simulation();
  ++crashes_;
  cluster_.crash(machine, simulation.draw(4) == 0);
  const auto down = static_cast<int64_t>(simulation.draw(2000)) * millisecond;
  simulation.call_at(simulation.now() + down, Simulation::everyone, [this, machine] {
    cluster_.start(machine);
    started_(machine);
  });
}

void SimulatedFaults::part_two() {
  Simulation& simulation = cluster_.simulation();
  const size_t one = simulation.draw(cluster_.size()), other = simulation.draw(cluster_.size());
  if (one != other && strikes(6)) {
    cluster_.network().part(cluster_.task(one), cluster_.task(other));
    const auto parted = static_cast<int64_t>(simulation.draw(3000)) * millisecond;
    simulation.call_at(simulation.now() + parted, Simulation::everyone, [this, one, other] {
      cluster_.network().heal(cluster_.task(one), cluster_.task(other));
    });
  }
  later(&SimulatedFaults::part_two);
}

}  // namespace troupe::test
