// ChildSpec: an actor that a supervisor restarts. A plain value.
#pragma once

#include <functional>

#include "actors/engine/actor_ref.h"
#include "messages/values/address.h"
#include "messages/values/status.h"

namespace troupe {

/// An actor that must exist until it is dropped (a child), and how to restart it.
struct ChildSpec {
  Address address;
  /// Spawns a successor. May be empty if `recoverable` always fails.
  std::function<ActorRef()> spawn = {};
  /// Failed: the actor in the child's place is a stub that answers every request with the failure.
  enum class Standing : bool { Serves, Failed };
  /// Called with every actor that takes the child's place. The caller of Supervisor::add calls it for the first actor. The
  /// supervisor calls it for successors when the directory leads to them.
  std::function<void(const ActorRef&, Standing)> placed = {};
  /// Returns Ok if a successor can continue where the actor ended, otherwise why not. Empty: a successor always can.
  std::function<Status()> recoverable = {};
};

}  // namespace troupe
