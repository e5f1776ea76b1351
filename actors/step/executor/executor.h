// The executor role: runs the steps of one partition on one device, and receives tensors from other executors: its mailbox is the
// rendezvous. The worker spawns it when a partition is registered. Schema: messages/schemas/executor.capnp.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/engine/fair_turns.h"
#include "actors/site/device_site.h"
#include "kernels/runtime/prepared_plan.h"

namespace troupe {

struct ExecutorOptions {
  std::shared_ptr<DeviceSite> site;
  uint64_t session = 0;
  uint64_t partition = 0;
  uint64_t seed = 0;
  std::string container;  ///< the container in which its nodes find their state
  ActorRef master;        ///< receives PartitionBroken when this executor loses another executor
  std::shared_ptr<FairTurns::Session> turns;  ///< of the session
  Address client;  ///< of the master, the other end of Sends and Recvs of a partial run
  std::shared_ptr<const PreparedPlan> plan;
  std::vector<uint32_t> feeds,
      fetches;  ///< for each feed and fetch of the plan: its position in the signature
  /// All executors of this signature, by device name.
  std::unordered_map<std::string, Address> executors;
};

struct ExecutorShared;

/// Spawns the executor of a prepared part.
ActorRef spawn_executor(ActorNode& node, std::shared_ptr<ExecutorShared> shared);

}  // namespace troupe
