// The supervisor role: one per task. It watches the task's permanent actors, its variables and its queues (robustness.md R7). It
// restarts an actor that ended abnormally or, if that is not possible, makes all requests to it fail with the reason. Schema:
// messages/schemas/supervisor.capnp.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "actors/engine/node.h"
#include "actors/supervision/child_spec.h"

namespace troupe {

/// The limit on restarts of one actor: at most `restarts` times within the duration `within`.
struct RestartIntensity {
  size_t restarts = 3;
  std::chrono::nanoseconds within = std::chrono::seconds(10);
};

/// Called once for each actor that has failed permanently. The status contains its address and the reason. Called on any thread;
/// must not block.
using OnFailure = std::function<void(const Status&)>;

/// A task's supervisor. May be used from any thread. Its actor ends with the node's engine; after that children are neither kept
/// nor restarted.
class Supervisor {
 public:
  /// Spawns the supervisor's actor and enters it in the directory under `address`.
  Supervisor(ActorNode& node, Address address, RestartIntensity intensity, OnFailure on_failure);

  const Address& address() const { return address_; }
  /// Adds a child whose first actor is `actor`: enters the actor in the directory and watches it. Calls none of the child's
  /// functions.
  void add(ChildSpec child, const ActorRef& actor);
  /// Removes a child from the directory; it is not restarted any more. Its actor ends when it is stopped or when the last reference
  /// to it is dropped.
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
