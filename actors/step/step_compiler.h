// Step compiler: turns a session's graph and a signature into what each worker runs. It applies the master's passes in order
// (prune, simplify, place, partition) and makes one RegisterPartition per worker. The master calls it once per signature.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/net/worker_devices.h"
#include "actors/step/session_options.h"
#include "graph/passes/partition/partition.h"
#include "graph/passes/place/node_costs.h"
#include "graph/passes/subgraph.h"
#include "kernels/core/kernel.h"
#include "messages/values/address.h"
#include "messages/wire/message.h"

namespace troupe {

namespace wire {
struct RegisterPartition;
}

/// Where a feed of a partial run enters the step, or a fetch leaves it.
struct ClientEnd {
  uint32_t position = 0;  ///< in the signature
  uint64_t edge = 0;
  Address executor;
};

/// One worker's share of a signature.
struct WorkerShare {
  size_t worker = 0;                ///< index of the worker
  std::vector<uint32_t> feeds;      ///< the positions of the feeds that the worker gets; ascending
  std::vector<std::string> seeded;  ///< the names of its random nodes that have seeds of their own
  std::vector<ClientEnd> client_feeds, client_fetches;  ///< those of a partial signature
  Message<wire::RegisterPartition> registration;
};

/// Returns the container in which a session's nodes find their state by name (messages/schemas/worker.capnp).
std::string state_container(uint64_t session, const SessionOptions& options);

/// The master, the session and the number of a partition.
struct PartitionOwner {
  Address master;
  uint64_t session = 0, partition = 0;
};

/// What a master has found out about the nodes of a signature, for its DeviceChoice.
struct PlacementKnowledge {
  const MeasuredTimes* times = nullptr;  ///< of the nodes that have been measured; may be null
  /// Which placement is tried: 0 is that of DeviceChoice::EarliestFinish, others are seeds of learned ones.
  uint64_t candidate = 0;
};

/// Compiles a signature. `homes` contains, for each node of the graph that must be on the same device in every signature (state,
/// and nodes colocated by name), its device; for other nodes no_device. The compiler chooses these devices on the whole graph,
/// because a step may not contain the node that another is colocated with. The master keeps `homes` from call to call.
Result<std::vector<WorkerShare>> compile_step(const Graph& graph, const RunSignature& signature,
                                              const OpLibrary& library,
                                              std::span<const WorkerDevices> workers,
                                              const SessionOptions& options, const PartitionOwner& owner,
                                              std::vector<DeviceId>& homes, const PlacementKnowledge& known);

/// The partitions of a step and their devices.
struct PlacedStep {
  struct PlacedNode {
    std::string name, op;
    DeviceId device;
  };
  std::vector<DeviceInfo> devices;
  std::vector<Partition> partitions;
  std::vector<PlacedNode> nodes;              ///< of the session's graph, before they were fused
  std::vector<std::string> ignored_requests;  ///< see PlacementResult::notes
};
/// Applies the same passes as compile_step(), to show what would run where. `homes` are those of compile_step().
Result<PlacedStep> place_step(const Graph& graph, const RunSignature& signature, const OpLibrary& library,
                              std::span<const WorkerDevices> workers, const SessionOptions& options,
                              std::vector<DeviceId>& homes, const PlacementKnowledge& known);
/// Does the same independent of a session.
Result<PlacedStep> place_step(const Graph& graph, const RunSignature& signature, const OpLibrary& library,
                              std::span<const WorkerDevices> workers, const SessionOptions& options);

}  // namespace troupe
