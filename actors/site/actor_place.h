// ActorPlace: a reference to an actor that may be replaced while other threads use it. Any thread.
#pragma once

#include <mutex>

#include "actors/engine/actor_ref.h"
#include "devices/spin_lock.h"

namespace troupe {

class ActorPlace {
 public:
  ActorRef get() const {
    const std::lock_guard lock(lock_);
    return actor_;
  }
  void put(ActorRef actor) {
    const std::lock_guard lock(lock_);
    std::swap(actor_, actor);  // the old reference is released after the lock
  }

 private:
  mutable SpinLock lock_;
  ActorRef actor_;
};

}  // namespace troupe
