// The mutex role: one actor per mutex. It gives its lock to one step at a time, in the order in which they asked. A request that
// must wait is kept by the actor; no thread waits. When a step ends, its requests are removed. The mutex service starts the role.
// Schema: messages/schemas/mutex.capnp.
#pragma once

#include <memory>
#include <string>

#include "actors/engine/node.h"
#include "actors/engine/role.h"

namespace troupe {

/// What a mutex is made of: all mutexes are alike.
struct MutexSpec {
  std::string name;  ///< the name of its state

  std::string text() const { return "one lock"; }
  friend bool operator==(const MutexSpec&, const MutexSpec&) = default;
};

std::unique_ptr<Role> make_mutex(ActorNode& node, const MutexSpec& spec);

}  // namespace troupe
