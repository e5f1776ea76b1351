// The checkpoint roles: each task has a writer, which saves and restores the variables of its devices, and a coordinator, which
// makes the writers of all tasks save and restore together. Schema: messages/schemas/checkpoint.capnp; files:
// actors/checkpoint/checkpoint_files.h.
//
//   coordinator, one request at a time:
//     save:     makes the folder -> SaveShard to all -> all saved -> manifest, removes old ones -> CheckpointSaved
//                                              \-> one failed -> removes the folder -> the failure
//     restore:  manifest -> ReadShards to all -> all read -> ApplyShards to all -> CheckpointRestored
//                  ^                          \-> damaged: DropShards, the next older one
//                  |____________________________|
//                                             \-> failed: DropShards, the failure
#pragma once

#include <memory>

#include "actors/site/task_sites.h"

namespace troupe {

/// These return the addresses of the writer and the coordinator of a task, given the address of its worker.
Address checkpoint_writer_address(const Address& worker);
Address checkpoint_coordinator_address(const Address& worker);

ActorRef spawn_checkpoint_writer(ActorNode& node, std::shared_ptr<TaskSites> task);
ActorRef spawn_checkpoint_coordinator(ActorNode& node);

}  // namespace troupe
