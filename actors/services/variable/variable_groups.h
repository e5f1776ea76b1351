// The groups of the variables on a device: which cells belong together because some request named them together, and which actor
// owns them. A cell begins in a group of its own, with its first request. A request that names cells of several groups joins
// those for good, before it is sent: the actor of one group takes over the cells of the others, as messages/schemas/variable.capnp
// says. Part of the VariableService. Any thread; requests of cells that are one group already take no lock but the cells' own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/services/variable/prepared_rule.h"
#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"
#include "messages/wire/message_reader.h"

namespace troupe {

/// Cells that one actor owns.
class VariableGroup final : public StateOwner {
 public:
  explicit VariableGroup(Address address) : address_(std::move(address)) {}

  ActorRef actor() const { return actor_.get(); }
  std::atomic<size_t> computing{0};  ///< updates that run outside the actor's handlers

 private:
  friend class VariableGroups;

  const Address address_;
  ActorPlace actor_;
  // Under the mutex of VariableGroups.
  std::vector<uint32_t> cells_;  ///< by number
  std::vector<std::shared_ptr<VariableGroup>>
      predecessors_;  ///< joined with this one, their cells not yet released
  Status lost_;       ///< why its values are lost
  bool given_up_ = false;
  bool merged_ = false;  ///< its cells are another group's now
};

class VariableGroups {
 public:
  using GroupRef = std::shared_ptr<VariableGroup>;

  VariableGroups(DeviceSite& site, RuleTable& rules) : site_(site), rules_(rules) {}

  /// The actor that serves a request for these cells, which are one group from now on, unless one of them is lost.
  /// InvalidArgument for what is no variable of this device; NotFound when its container is gone.
  Result<ActorRef> owner(std::span<StateCell* const> cells);
  /// The same by the cells' numbers. NotFound also when there is no such number.
  Result<ActorRef> owner(capnp::List<uint32_t>::Reader cells);
  /// The container of the cell is gone; the actor ends with the last cell of its group.
  void drop(StateCell& cell);

  // For the actor of a group.

  /// What belongs to the group: its cells, and the groups whose actors have yet to release some of them.
  struct Members {
    std::vector<std::shared_ptr<StateCell>> cells;
    std::vector<GroupRef> predecessors;
  };
  Members members(const VariableGroup& group) const;
  /// The actors of the group's predecessors have released their cells, those of `ended` by ending. DataLoss when one of these
  /// was changing a cell; the group is lost then.
  Status released(VariableGroup& group, std::span<const GroupRef> predecessors,
                  std::span<const GroupRef> ended);

 private:
  bool is_here(const StateCell& cell) const;
  ChildSpec child(const GroupRef& group);

  // Under the mutex.

  Result<GroupRef> join(std::span<StateCell* const> cells);
  Result<GroupRef> group_of(StateCell& cell);
  GroupRef make(StateCell& cell);
  void absorb(VariableGroup& into, const GroupRef& other);
  void place(VariableGroup& group, const ActorRef& actor);
  void end_predecessors(VariableGroup& group);
  Status values_are_there(const VariableGroup& group, std::span<const uint32_t> except) const;

  DeviceSite& site_;
  RuleTable& rules_;
  mutable std::mutex mutex_;
};

}  // namespace troupe
