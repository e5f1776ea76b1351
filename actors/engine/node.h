// Node: what all actors of one process share: the engine, the directory of addresses, the environment, the pool and the ops.
// Everything an actor reaches outside itself it reaches through this, so that whole clusters of nodes can be simulated in one
// thread. Owned by the runtime (or the simulation); outlives its actors. Its members are safe to use from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "actors/engine/directory.h"
#include "actors/engine/engine.h"
#include "devices/caching_allocator.h"
#include "devices/pool.h"
#include "kernels/core/kernel.h"
#include "messages/env/env.h"

namespace troupe {

class ActorNode {
 public:
  ActorNode(Env environment, Scheduler& node_scheduler, Pool& compute_pool,
            std::shared_ptr<const OpLibrary> op_library,
            const std::shared_ptr<MemoryBudget>& budget = nullptr)
      : env(environment), scheduler(node_scheduler), pool(compute_pool), library(std::move(op_library)),
        memory(Arena::Options{.cap = budget ? budget->cap() : 0}, budget), engine(node_scheduler) {}
  /// Ends the actors and waits for the steps that still drain and for work with files.
  ~ActorNode() {
    engine.end();
    scheduler.wait([this] { return steps.load(std::memory_order_acquire) == 0; }, 0);
  }

  /// Keeps the node while something runs on it that is no actor: a step, work with files. Owned by that.
  class KeepAlive {
   public:
    explicit KeepAlive(ActorNode& node) : node_(node) { node_.steps.fetch_add(1, std::memory_order_relaxed); }
    ~KeepAlive() {
      Scheduler& waiter = node_.scheduler;  // the node may be gone once it is counted out
      if (node_.steps.fetch_sub(1, std::memory_order_acq_rel) == 1) waiter.wake();
    }
    KeepAlive(const KeepAlive&) = delete;
    KeepAlive& operator=(const KeepAlive&) = delete;

   private:
    ActorNode& node_;
  };

  Env env;
  Scheduler& scheduler;
  Pool& pool;
  std::shared_ptr<const OpLibrary> library;
  CachingAllocator memory;  ///< of the tensors that come from other nodes
  Directory directory;
  std::atomic<size_t> steps{0};     ///< see KeepAlive
  int64_t heartbeat = 200'000'000;  ///< nanoseconds; set before there are actors
  /// Messages from peers that named what is not there: a step that is over, an edge, a session. Each was answered or reported, too,
  /// unless it came late for something that had ended.
  std::atomic<uint64_t> strays{0};
  Engine engine;
};

}  // namespace troupe
