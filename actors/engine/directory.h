// Directory: finds the actor that has an address: an actor of this node, or the stub of an actor of another node. Owned by the
// node. May be used from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "actors/engine/actor_ref.h"
#include "messages/values/address.h"
#include "messages/values/status.h"

namespace troupe {

class Directory {
 public:
  void add(const Address& address, ActorRef actor);
  void remove(const Address& address);
  // An address whose incarnation is 0 names the actor of the process that the task is now; finding it takes longer.

  /// Returns the actor of this node with this address. Fails with Unavailable, naming the address, if there is none.
  Result<ActorRef> find_local(const Address& address) const;
  /// Returns the actor of this node with this address or, if there is none, the result of the remote lookup.
  Result<ActorRef> find(const Address& address) const;

  /// Finds actors of other nodes. It is called from any thread.
  using RemoteLookup = std::function<Result<ActorRef>(const Address&)>;
  /// Null, as at first, if there are no other nodes.
  void set_remote_lookup(RemoteLookup lookup);

  /// The number of actors of this node.
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Address, ActorRef> actors_;
  std::shared_ptr<const RemoteLookup> remote_lookup_;
};

}  // namespace troupe
