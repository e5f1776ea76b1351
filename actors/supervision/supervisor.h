// The supervisor role: one per task, over the actors that are there as long as their task (robustness.md R7). It puts another in
// the place of one that ended as it should not, or gives it up, with the reason. Schema: messages/schemas/supervisor.capnp.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "actors/engine/node.h"

namespace troupe {

/// An actor that is to be there as long as its task, and how another comes in its place.
struct ChildSpec {
  Address address;
  std::function<ActorRef()> spawn;
  /// Told of every actor that takes the place, also when that one only answers why there is none; after the directory.
  std::function<void(const ActorRef&)> placed = {};
  /// Ok when a new one can go on where the last one ended; else why not.
  std::function<Status()> recoverable = {};
};

/// How often one actor may be restarted: so many times within so much time.
struct RestartIntensity {
  size_t restarts = 3;
  std::chrono::nanoseconds within = std::chrono::seconds(10);
};

/// Called once for each actor that is given up, with its address and the reason; on any thread, and must not block.
using OnFailure = std::function<void(const Status&)>;

/// Spawns them, enters them in the directory, and watches them; enters itself under `address`.
ActorRef spawn_supervisor(ActorNode& node, const Address& address, std::vector<ChildSpec> actors,
                          RestartIntensity intensity, OnFailure on_failure);

}  // namespace troupe
