// From a session's graph and a signature to what each worker runs: the master's passes in order (prune, simplify, place,
// partition), then one RegisterPartition per worker. A function of its arguments; the master calls it once per signature.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/session_options.h"
#include "graph/partition.h"
#include "graph/subgraph.h"
#include "kernels/kernel.h"
#include "messages/address.h"
#include "messages/message.h"

namespace troupe {

namespace wire {
struct RegisterPartition;
}

/// A worker that a session may use.
struct WorkerDevices {
  Address worker;
  std::vector<DeviceInfo> devices;
};

/// One worker's share of a signature.
struct WorkerShare {
  size_t worker = 0;                ///< index into the workers
  std::vector<uint32_t> feeds;      ///< positions of the feeds it is sent; ascending
  std::vector<std::string> seeded;  ///< names of its random nodes with seeds of their own
  Message<wire::RegisterPartition> registration;
};

/// The container in which a session's nodes find their state by name (messages/worker.capnp).
std::string state_container(uint64_t session, const SessionOptions& options);

/// Whose partition it is.
struct PartitionOwner {
  Address master;
  uint64_t session = 0, partition = 0;
};

/// `homes`: the device, per node of the graph, of those that must be at the same place in every signature: state, and what is
/// colocated by name. They are settled on the whole graph, since what they are colocated with may not be part of a step; kept by
/// the master from call to call.
Result<std::vector<WorkerShare>> compile_step(const Graph& graph, const RunSignature& signature,
                                              const OpLibrary& library,
                                              std::span<const WorkerDevices> workers,
                                              const SessionOptions& options, const PartitionOwner& owner,
                                              std::vector<DeviceId>& homes);

/// What a step would run where, for who wants to look at it: the same passes, without the state that a session keeps.
struct PlacedStep {
  std::vector<DeviceInfo> devices;
  std::vector<Partition> partitions;
};
Result<PlacedStep> place_step(const Graph& graph, const RunSignature& signature, const OpLibrary& library,
                              std::span<const WorkerDevices> workers, const SessionOptions& options);

}  // namespace troupe
