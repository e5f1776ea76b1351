// The supervisor role: one per task, over the task's permanent actors, its variables and its queues (robustness.md R7). It puts
// another in the place of one that ended as it should not, or gives it up, with the reason. Schema:
// messages/schemas/supervisor.capnp.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "actors/engine/node.h"
#include "actors/supervision/child_spec.h"

namespace troupe {

/// How often one actor may be restarted: so many times within so much time.
struct RestartIntensity {
  size_t restarts = 3;
  std::chrono::nanoseconds within = std::chrono::seconds(10);
};

/// Called once for each actor that is given up, with its address and the reason; on any thread, and must not block.
using OnFailure = std::function<void(const Status&)>;

/// A task's supervisor. Any thread. Its actor goes with the node; from then on children are neither kept nor restarted.
class Supervisor {
 public:
  /// Spawns the supervisor and enters it in the directory under `address`.
  Supervisor(ActorNode& node, Address address, RestartIntensity intensity, OnFailure on_failure);

  const Address& address() const { return address_; }
  /// Enters `actor`, the first in the child's place, in the directory and watches it. Calls none of the child's functions.
  void add(ChildSpec child, const ActorRef& actor);
  /// The child is no longer in the directory, and not restarted any more. It ends when it is stopped or nobody refers to it.
  void drop(const Address& child);

 private:
  class Role;
  struct Supervised;
  class Children;

  const Address address_;
  std::shared_ptr<Children> children_;  ///< shared with the actor
  ActorRef actor_;
};

}  // namespace troupe
