// SimulatedFaults: what goes wrong in a simulated cluster while it works: its network is unreliable, its machines crash and start again,
// pairs of them are parted for a while. Owned by the test; ends before the cluster. One thread.
#pragma once

#include <functional>
#include <vector>

#include "tests/support/simulated_cluster.h"

namespace troupe::test {

struct Faults {
  NetworkFaults network;
  bool crashes = false, partitions = false;
};

class SimulatedFaults {
 public:
  /// Of the machines only `mortal` crash; `started` is told of each that has started again.
  SimulatedFaults(SimulatedCluster& cluster, const Faults& faults, std::vector<size_t> mortal,
                  std::function<void(size_t machine)> started);
  /// No more of them begin; those that have begun pass.
  void end() { over_ = true; }
  int crashes() const { return crashes_; }

 private:
  void later(void (SimulatedFaults::*what)());
  bool strikes(uint64_t in);
  void crash_one();
  void part_two();

  SimulatedCluster& cluster_;
  const std::vector<size_t> mortal_;
  const std::function<void(size_t)> started_;
  bool over_ = false;
  int crashes_ = 0;
};

/// Whether a training under these arguments, a seed among them, is the same events in the same order when it runs again.
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
