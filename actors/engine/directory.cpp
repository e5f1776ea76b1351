#include "actors/engine/directory.h"

#include <algorithm>

namespace troupe {
namespace {

/// Returns whether `actor` is the one that `wanted`, an address without incarnation, names.
bool is_current(const Address& wanted, const Address& actor) {
  return wanted.task == actor.task && wanted.role == actor.role && wanted.key == actor.key;
}

}  // namespace

void Directory::add(const Address& address, ActorRef actor) {
  const std::lock_guard lock(mutex_);
  actors_[address] = std::move(actor);
}

void Directory::remove(const Address& address) {
  const std::lock_guard lock(mutex_);
  actors_.erase(address);
}

Result<ActorRef> Directory::find_local(const Address& address) const {
  const std::lock_guard lock(mutex_);
  const auto at =
      address.incarnation == 0
          ? std::ranges::find_if(actors_, [&](const auto& actor) { return is_current(address, actor.first); })
          : actors_.find(address);
  if (at == actors_.end()) return unavailable("there is no actor " + address.text() + " on this node");
  return at->second;
}

Result<ActorRef> Directory::find(const Address& address) const {
  auto local = find_local(address);
  if (local) return local;
  std::shared_ptr<const RemoteLookup> lookup;
  {
    const std::lock_guard lock(mutex_);
    lookup = remote_lookup_;
  }
  return lookup ? (*lookup)(address) : local;
}

void Directory::set_remote_lookup(RemoteLookup lookup) {
  const std::lock_guard lock(mutex_);
  remote_lookup_ = lookup ? std::make_shared<const RemoteLookup>(std::move(lookup)) : nullptr;
}

size_t Directory::size() const {
  const std::lock_guard lock(mutex_);
  return actors_.size();
}

}  // namespace troupe
