// Runs graphs that are cut over several CPU devices, in one process without actors. Each device has its own variables. One
// thread drives all devices, in an order that depends on a seed. Devices are "/job:test/replica:0/task:i/device:CPU:0".
#pragma once

#include <random>

#include "graph/passes/place/placer.h"
#include "tests/support/net/local_host.h"

namespace troupe::test {

class PartitionedRuntime {
 public:
  PartitionedRuntime(std::shared_ptr<const OpLibrary> library, size_t devices, uint64_t seed = 0);

  /// Runs one step: cuts out the subgraph, places nodes as they request, partitions,
  /// and runs. Fails with Internal if all partitions wait for each other.
  Result<std::vector<Tensor>> run(const Graph& graph, const Feeds& feeds, const std::vector<Output>& fetches);
  /// Returns the number of partitions of the last run.
  size_t partitions() const { return partitions_; }

 private:
  Result<std::vector<Tensor>> run_step(std::span<const Partition> partitions,
                                       const std::vector<Tensor>& feeds, size_t fetches);
  Status drive(std::span<const std::unique_ptr<LocalHost>> hosts);

  InlinePool pool_;
  std::vector<std::unique_ptr<CpuDevice>> devices_;
  std::vector<std::unique_ptr<LocalRuntime>> runtimes_;
  std::vector<DeviceInfo> infos_;
  std::mt19937_64 random_;
  size_t partitions_ = 0;
};

}  // namespace troupe::test
