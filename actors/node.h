// Node: what all actors of one process share: the engine, the directory of addresses, the environment, the pool and the ops.
// Everything an actor reaches outside itself it reaches through this, so that whole clusters of nodes can be simulated in one
// thread. Owned by the runtime (or the simulation); outlives its actors. Its members are safe to use from any thread.
#pragma once

#include <memory>
#include <string>

#include "actors/directory.h"
#include "actors/engine.h"
#include "devices/pool.h"
#include "kernels/kernel.h"
#include "messages/env.h"

namespace troupe {

class ActorNode {
 public:
  ActorNode(Env environment, Scheduler& node_scheduler, Pool& compute_pool,
            std::shared_ptr<const OpLibrary> op_library)
      : env(environment), scheduler(node_scheduler), pool(compute_pool), library(std::move(op_library)),
        engine(node_scheduler) {}

  Env env;
  Scheduler& scheduler;
  Pool& pool;
  std::shared_ptr<const OpLibrary> library;
  Directory directory;
  Engine engine;  ///< last, so that it ends its actors while the rest is there
};

}  // namespace troupe
