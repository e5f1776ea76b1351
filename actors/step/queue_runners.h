// The role that runs the steps of a session's queue runners. Schema: messages/schemas/queue_runners.capnp.
#pragma once

#include <optional>
#include <vector>

#include "actors/engine/node.h"

namespace troupe {

/// A QueueRunner (graph/build/queue_runner.h) whose targets are signatures of steps: messages PrepareStep
/// (messages/schemas/session.capnp).
struct QueueRunnerSteps {
  std::vector<AnyMessage> enqueue;
  std::optional<AnyMessage> close, cancel;
  std::vector<Code> ends;
};

/// Spawns the role, which begins at once. `master` is that of the session, and `number` differs from those of the session's other
/// roles of this kind.
ActorRef spawn_queue_runners(ActorNode& node, const ActorRef& master, uint32_t number,
                             std::vector<QueueRunnerSteps> runners);

}  // namespace troupe
