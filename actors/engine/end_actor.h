// Ends an actor that uses what its owner is about to destroy. On a thread that may wait.
#pragma once

#include <atomic>

#include "actors/engine/node.h"

namespace troupe {

/// Asks the actor to end, and returns when it has ended.
inline void end_actor(ActorNode& node, const ActorRef& actor) {
  std::atomic<bool> ended{false};
  node.engine.watch(actor, [&ended, &scheduler = node.scheduler](const Status&) {
    ended = true;
    scheduler.wake();
  });
  node.engine.stop(actor);
  node.scheduler.wait([&ended] { return ended.load(); }, 0);
}

}  // namespace troupe
