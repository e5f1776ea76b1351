// The executor role: runs the steps of one partition on one device, and is where tensors from other executors arrive: its
// mailbox is the rendezvous. Spawned by the worker when a partition is registered. Schema: messages/schemas/executor.capnp.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/site/device_site.h"
#include "kernels/runtime/prepared_plan.h"

namespace troupe {

struct ExecutorOptions {
  std::shared_ptr<DeviceSite> site;
  uint64_t session = 0;
  uint64_t partition = 0;
  uint64_t seed = 0;
  std::string container;  ///< in which its nodes find their state
  ActorRef master;        ///< told when a peer is lost to this executor
  std::shared_ptr<const PreparedPlan> plan;
  std::vector<uint32_t> feeds, fetches;  ///< per feed and fetch of the plan: its position in the signature
  std::unordered_map<std::string, Address>
      executors;  ///< of the other devices of this signature, by device name
};

/// Unimplemented, naming the node, for an op that no role here carries out.
Result<ActorRef> spawn_executor(ActorNode& node, ExecutorOptions options);

}  // namespace troupe
