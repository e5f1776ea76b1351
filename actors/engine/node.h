// ActorNode: what all actors of one process share: the engine, the directory of addresses, the environment, the pool and the ops.
// An actor reaches everything outside itself through its node, so that whole clusters of nodes can be simulated in one thread.
// Owned by the runtime (or the simulation); outlives its actors. Its members may be used from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "actors/engine/directory.h"
#include "actors/engine/engine.h"
#include "actors/engine/task_set.h"
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
  /// Ends the actors, and waits for steps that have not ended yet and for work with files.
  ~ActorNode() {
    engine.end();
    scheduler.wait([this] { return steps.load(std::memory_order_acquire) == 0; }, 0);
  }

  /// Delays the destruction of the node while work that is not an actor runs on it: a step, or work with files. Owned by that work.
  class KeepAlive {
   public:
    explicit KeepAlive(ActorNode& node) : node_(node) { node_.steps.fetch_add(1, std::memory_order_relaxed); }
    ~KeepAlive() {
      Scheduler& waker = node_.scheduler;  // outlives the node, which may be destroyed after the decrement
      if (node_.steps.fetch_sub(1, std::memory_order_acq_rel) == 1) waker.wake();
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
  CachingAllocator memory;  ///< for tensors that come from other nodes
  Directory directory;
  TaskSet gpu_borrowers;         ///< the linked tasks whose GPUs read the memory of all GPUs of this process
  std::atomic<size_t> steps{0};  ///< the number of KeepAlive objects
  int64_t heartbeat = 200'000'000;  ///< nanoseconds; set before the first actor is spawned
  /// The number of messages from peers that named something unknown: a step that is over, an edge, a session. Each of them was also
  /// answered or reported, unless it was only late.
  std::atomic<uint64_t> strays{0};
  Engine engine;
};

}  // namespace troupe
