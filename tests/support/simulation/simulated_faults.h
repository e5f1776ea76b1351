// SimulatedFaults: causes faults in a simulated cluster: its network is unreliable, its machines crash and start again, and pairs
// of machines are cut off from each other for a while. Owned by the test; must be destroyed before the cluster. One thread.
#pragma once

#include <functional>
#include <vector>

#include "tests/support/simulation/simulated_cluster.h"

namespace troupe::test {

struct Faults {
  NetworkFaults network;
  bool crashes = false, partitions = false;
  uint64_t rarity = 1;  ///< how many times rarer than usual crashes and partitions are
};

class SimulatedFaults {
 public:
  /// Only the machines in `mortal` crash. `started` is called after a machine has started again.
  SimulatedFaults(SimulatedCluster& cluster, const Faults& faults, std::vector<size_t> mortal,
                  std::function<void(size_t machine)> started);
  /// No new faults begin. Faults that have begun end by themselves.
  void end() { over_ = true; }
  int crashes() const { return crashes_; }

 private:
  void later(void (SimulatedFaults::*what)());
  bool strikes(uint64_t in);
  void crash_some();
  void crash(size_t machine);
  void part_two();

  SimulatedCluster& cluster_;
  const uint64_t rarity_;
  const std::vector<size_t> mortal_;
  const std::function<void(size_t)> started_;
  bool over_ = false;
  int crashes_ = 0;
};

/// Returns true if a training with these arguments, one of which is
/// a seed, has the same events in the same order when it runs again.
template <class Training, class... Arguments>
bool replays(const Arguments&... arguments) {
  const auto trace = [&] {
    Training training(arguments...);
    training.run();
    return training.cluster().simulation().trace();
  };
  const uint64_t first = trace();
  return trace() == first;
}

}  // namespace troupe::test
