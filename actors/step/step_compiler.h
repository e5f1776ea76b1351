// From a session's graph and a signature to what each worker runs: the master's passes in order (prune, simplify, place,
// partition), then one RegisterPartition per worker. A function of its arguments; the master calls it once per signature.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/net/worker_devices.h"
#include "actors/step/session_options.h"
#include "graph/passes/partition.h"
#include "graph/passes/subgraph.h"
#include "kernels/core/kernel.h"
#include "messages/values/address.h"
#include "messages/wire/message.h"

namespace troupe {

namespace wire {
struct RegisterPartition;
}

/// One worker's share of a signature.
struct WorkerShare {
  size_t worker = 0;                ///< index into the workers
  std::vector<uint32_t> feeds;      ///< positions of the feeds it is sent; ascending
  std::vector<std::string> seeded;  ///< names of its random nodes with seeds of their own
  Message<wire::RegisterPartition> registration;
};

/// The container in which a session's nodes find their state by name (messages/schemas/worker.capnp).
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
