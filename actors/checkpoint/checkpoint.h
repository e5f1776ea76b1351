// The checkpoint roles: a writer per task, which saves and restores the variables of its devices, and a coordinator, which has the
// writers save and restore together. Schema: messages/schemas/checkpoint.capnp; files: actors/checkpoint/checkpoint_files.h.
//
//   coordinator, one request at a time:
//     save:     folder made -> SaveShard to all -> all saved -> manifest, old ones removed -> CheckpointSaved
//                                              \-> one failed -> folder removed -> the failure
//     restore:  manifest -> ReadShards to all -> all read -> ApplyShards to all -> CheckpointRestored
//                  ^                          \-> damaged: DropShards, the next older one
//                  |____________________________|
//                                             \-> failed: DropShards, the failure
#pragma once

#include <memory>

#include "actors/site/task_sites.h"

namespace troupe {

/// Of the task of that worker.
Address checkpoint_writer_address(const Address& worker);
Address checkpoint_coordinator_address(const Address& worker);

ActorRef spawn_checkpoint_writer(ActorNode& node, std::shared_ptr<TaskSites> task);
ActorRef spawn_checkpoint_coordinator(ActorNode& node);

}  // namespace troupe
