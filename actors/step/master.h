// The master role of one session: it holds the session's graph, compiles each signature once, and carries out steps by one
// RunPartition per worker. Schema: messages/schemas/session.capnp.
//
//   step:  RunStep -> running --all PartitionDone--> StepDone
//                       | a partition failed or broke, CancelStep, CloseSession, StepExpired
//                       v
//                    failing (AbortStep sent to every worker of the step) --all answered--> the first failure
//                       (after StepExpired the caller is answered at once, and the step drains)
#pragma once

#include <vector>

#include "actors/engine/node.h"
#include "actors/step/step_compiler.h"

namespace troupe {

/// `session` is random and names the session everywhere; with its text as key the address is the master's in the directory.
ActorRef spawn_master(ActorNode& node, const Address& address, uint64_t session,
                      std::vector<WorkerDevices> workers, SessionOptions options);

}  // namespace troupe
