// The master role: one per session. It holds the session's graph, compiles each signature once, and runs steps by sending one
// RunPartition to each worker. Schema: messages/schemas/session.capnp.
//
//   step:  RunStep -> running --all PartitionDone--> StepDone
//                       | a partition failed or was broken, CancelStep, CloseSession, StepExpired
//                       v
//                    failing (AbortStep sent to every worker of the step) --all answered--> the first failure
//                       (after StepExpired the caller is answered at once, and the step ends later)
#pragma once

#include <vector>

#include "actors/engine/node.h"
#include "actors/step/step_compiler.h"

namespace troupe {

/// Spawns the master of a session and enters it in the directory under `address`, whose key is the text of `session`. `session` is
/// a random number that names the session in all messages. When `client` ends, or the link to it, the master does the same as for
/// CloseSession; null: the client is in this process and ends the master itself.
ActorRef spawn_master(ActorNode& node, const Address& address, uint64_t session,
                      std::vector<WorkerDevices> workers, SessionOptions options, ActorRef client = {});

}  // namespace troupe
