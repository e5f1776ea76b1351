// StateActors: the actors of a service that keep one state each, a queue or a table for example, by the cell of the state's
// handle. Such a state lives in its actor alone: if the actor ends unexpectedly, the contents are lost, the actor is not
// restarted, and every request fails with DataLoss. Owned by a service; any thread. Public header.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "actors/engine/actor_ref.h"
#include "kernels/core/slot.h"
#include "kernels/core/state.h"
#include "messages/values/address.h"

#pragma GCC visibility push(default)
namespace troupe {

class ActorPlace;
class Role;
struct DeviceSite;

/// One such actor, under the supervision of its task.
class StateActor {
 public:
  /// Starts `actor` at the address of `role` and the cell.
  StateActor(DeviceSite& site, const std::string& role, const StateCell& cell, std::unique_ptr<Role> actor);

  /// The actor, or the one that answers why it is no more.
  ActorRef get() const;
  /// Ends the actor. Nobody finds it any more.
  void end();

 private:
  DeviceSite& site_;
  const Address address_;
  const std::shared_ptr<ActorPlace> place_;  ///< shared with the supervisor
};

/// `Spec` is what a state is made of; it has operator== and text().
template <class Spec>
class StateActors {
 public:
  struct Entry {
    const Spec spec;
    StateActor actor;
  };

  /// `role` names the state in addresses and errors: "queue".
  StateActors(DeviceSite& site, std::string role) : site_(site), role_(std::move(role)) {}

  /// Starts the actor that `make(spec)` returns, a std::unique_ptr<Role>, unless the state has one. InvalidArgument if the
  /// state was made with another spec.
  template <class Make>
  Status open(const std::shared_ptr<const StateCell>& cell, Spec spec, Make make) {
    const std::lock_guard lock(mutex_);
    State& state = states_[cell.get()];
    if (!state.entry) {
      StateActor actor(site_, role_, *cell, make(spec));
      state = {cell, std::make_shared<Entry>(Entry{std::move(spec), std::move(actor)})};
      return {};
    }
    if (state.entry->spec == spec) return {};
    return invalid_argument(role_ + " '" + cell->name() + "' was made with " + state.entry->spec.text() +
                            "; this node has " + spec.text());
  }

  /// Ends the actor of this state, if the state has one here; its contents are dropped.
  void end(const StateCell& cell) {
    const std::lock_guard lock(mutex_);
    if (const auto ended = states_.extract(&cell)) ended.mapped().entry->actor.end();
  }

  /// The state that an input of a node leads to. InvalidArgument if that is no state of this service and device.
  Result<std::shared_ptr<const Entry>> find(const Slot& handle) const {
    return find(handle.kind == Slot::Kind::Handle ? handle.cell : nullptr);
  }
  /// The state of this cell: that which a node names itself. Fails as the function above does.
  Result<std::shared_ptr<const Entry>> find(const StateCell* cell) const {
    const std::lock_guard lock(mutex_);
    if (const auto at = states_.find(cell); at != states_.end()) return {at->second.entry};
    return invalid_argument("the handle is not of a " + role_ + " on this device");
  }

 private:
  struct State {
    std::shared_ptr<const StateCell> cell;  ///< kept, so that no other cell can take its place in memory
    std::shared_ptr<Entry> entry;
  };

  DeviceSite& site_;
  const std::string role_;
  mutable std::mutex mutex_;
  std::unordered_map<const StateCell*, State> states_;
};

}  // namespace troupe
#pragma GCC visibility pop
