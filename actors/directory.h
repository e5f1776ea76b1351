// Directory: which actor an address means on this node: a local one, or later the stub that a link put there for a remote one.
// Owned by the node; any thread.
#pragma once

#include <mutex>
#include <unordered_map>

#include "actors/actor_ref.h"
#include "messages/address.h"
#include "messages/status.h"

namespace troupe {

class Directory {
 public:
  void add(const Address& address, ActorRef actor);
  void remove(const Address& address);
  /// Unavailable, naming the address, when nobody has it.
  Result<ActorRef> find(const Address& address) const;
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Address, ActorRef> actors_;
};

}  // namespace troupe
