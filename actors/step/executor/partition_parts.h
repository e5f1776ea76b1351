// PartitionPart: what a worker prepares of a RegisterPartition (messages/schemas/worker.capnp) for one of its devices: the plan and
// the means to carry out its nodes. Preparing a large graph lasts for a second, so it runs on the pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/engine/fair_turns.h"
#include "actors/site/task_sites.h"
#include "actors/step/executor/executor.h"
#include "messages/wire/message.h"

namespace troupe {

namespace wire {
struct RegisterPartition;
}

/// One part of a partition, ready for its executor.
struct PartitionPart {
  std::string device;
  std::shared_ptr<ExecutorShared> shared;
};

/// Prepares all parts of a message, for a master and for the turns of its session. Fails with NotFound if the task has no such
/// device, with DataLoss if a graph was damaged on its way, and as Plan, PreparedPlan and ExecutorShared fail. Any thread.
Result<std::vector<PartitionPart>> prepare_parts(ActorNode& node, const TaskSites& task,
                                                 const Message<wire::RegisterPartition>& message,
                                                 const ActorRef& master,
                                                 const std::shared_ptr<FairTurns::Session>& turns);

}  // namespace troupe
