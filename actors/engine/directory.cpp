#include "actors/engine/directory.h"

namespace troupe {

void Directory::add(const Address& address, ActorRef actor) {
  const std::lock_guard lock(mutex_);
  actors_[address] = std::move(actor);
}

void Directory::remove(const Address& address) {
  const std::lock_guard lock(mutex_);
  actors_.erase(address);
}

Result<ActorRef> Directory::find_here(const Address& address) const {
  const std::lock_guard lock(mutex_);
  const auto at = actors_.find(address);
  if (at == actors_.end()) return unavailable("there is no actor " + address.text() + " here");
  return at->second;
}

Result<ActorRef> Directory::find(const Address& address) const {
  auto here = find_here(address);
  if (here) return here;
  std::shared_ptr<const Elsewhere> elsewhere;
  {
    const std::lock_guard lock(mutex_);
    elsewhere = elsewhere_;
  }
  return elsewhere ? (*elsewhere)(address) : here;
}

void Directory::set_elsewhere(Elsewhere elsewhere) {
  const std::lock_guard lock(mutex_);
  elsewhere_ = elsewhere ? std::make_shared<const Elsewhere>(std::move(elsewhere)) : nullptr;
}

size_t Directory::size() const {
  const std::lock_guard lock(mutex_);
  return actors_.size();
}

}  // namespace troupe
