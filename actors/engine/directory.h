// Directory: which actor an address means on this node: one of its own, or the stub of another node's. Owned by the node; any
// thread.
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
  /// Of this node. Unavailable, naming the address, when nobody has it.
  Result<ActorRef> find_here(const Address& address) const;
  /// Here, or by way of set_elsewhere().
  Result<ActorRef> find(const Address& address) const;

  /// How actors of other nodes are found; may be called from any thread. Null: there are no other nodes.
  using Elsewhere = std::function<Result<ActorRef>(const Address&)>;
  void set_elsewhere(Elsewhere elsewhere);

  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Address, ActorRef> actors_;
  std::shared_ptr<const Elsewhere> elsewhere_;
};

}  // namespace troupe
