// ChildSpec: an actor that a supervisor keeps in its place. A plain value.
#pragma once

#include <functional>

#include "actors/engine/actor_ref.h"
#include "messages/values/address.h"
#include "messages/values/status.h"

namespace troupe {

/// An actor that is to be there until it is dropped, and how another comes in its place.
struct ChildSpec {
  Address address;
  std::function<ActorRef()> spawn = {};  ///< not called for what is never recoverable
  enum class Standing : bool {
    Serves,
    GivenUp  ///< it only answers why there is none
  };
  /// Told of every actor that takes the place: of the first by whoever adds the child, of others once the directory leads there.
  std::function<void(const ActorRef&, Standing)> placed = {};
  /// Ok when a new one can go on where the last one ended; else why not.
  std::function<Status()> recoverable = {};
};

}  // namespace troupe
