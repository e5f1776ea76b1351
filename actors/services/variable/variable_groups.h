// VariableGroups: the groups of the variables on a device, and the actors that own them. Cells belong to one group if requests have
// named them together. A cell gets a group of its own with its first request. A request for cells of several groups joins these
// permanently before it is sent: the actor of one group takes over the cells of the others (messages/schemas/variable.capnp). Part
// of the VariableService. May be used from any thread; a request for cells of one group takes no locks but those of the cells.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "actors/services/variable/prepared_rule.h"
#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"
#include "messages/wire/message_reader.h"

namespace troupe {

/// A group: cells that one actor owns.
class VariableGroup final : public StateOwner {
 public:
  explicit VariableGroup(Address address) : address_(std::move(address)) {}

  ActorRef actor() const { return actor_.get(); }
  std::atomic<size_t> computing{0};  ///< how many updates run outside the actor's handlers

 private:
  friend class VariableGroups;

  const Address address_;
  ActorPlace actor_;
  // Guarded by the mutex of VariableGroups.
  std::vector<uint32_t> cells_;  ///< the numbers of its cells
  /// The groups that were joined with this one and have not released their cells yet.
  std::vector<std::shared_ptr<VariableGroup>> predecessors_;
  Status lost_;          ///< why its values are lost; Ok if they are not
  bool failed_ = false;  ///< the supervisor does not restart its actor any more
  bool merged_ = false;  ///< its cells belong to another group now
};

/// The mirror of a device (messages/schemas/mirror.capnp).
struct MirrorTarget {
  uint64_t mirror = 0;  ///< its number
  ActorRef actor;       ///< the mirror role of the other device
  ActorRef source;      ///< the mirror source role of this device
};

class VariableGroups {
 public:
  using GroupRef = std::shared_ptr<VariableGroup>;

  VariableGroups(DeviceSite& site, RuleTable& rules) : site_(site), rules_(rules) {}

  /// Joins these cells to one group and returns its actor. If the group of one of them has failed, returns the stub that answers
  /// with the reason. Fails with InvalidArgument if a cell is not a variable of this device, and with NotFound if its container was
  /// dropped.
  Result<ActorRef> owner(std::span<StateCell* const> cells);
  /// Finds the cells by their numbers. Fails with NotFound if no cell has one of the numbers, and as the function above does.
  Result<ActorRef> owner(std::span<const uint32_t> cells);
  /// Removes a cell whose container was dropped. The actor of a group ends with the group's last cell.
  void drop(StateCell& cell);
  /// Begins or ends the mirror of the device. Returns the actors of all groups, which must be told.
  std::vector<ActorRef> set_mirror(std::optional<MirrorTarget> mirror);

  // The functions below are for the actor of a group.

  /// The cells of a group, and the groups whose actors have not released some of them yet.
  struct Members {
    std::vector<std::shared_ptr<StateCell>> cells;
    std::vector<GroupRef> predecessors;
  };
  Members members(const VariableGroup& group) const;
  /// Called when the actors of these predecessors have released their cells; the actors of `ended` have ended instead. Fails with
  /// DataLoss if one of those was changing a cell: then the group is lost.
  Status released(VariableGroup& group, std::span<const GroupRef> predecessors,
                  std::span<const GroupRef> ended);
  std::optional<MirrorTarget> mirror() const;
  /// Returns the number of a new stream of changes to the mirror.
  uint64_t next_stream() { return ++last_stream_; }

 private:
  bool is_here(const StateCell& cell) const;
  ChildSpec child(const GroupRef& group);

  // The functions below are called with the mutex locked.

  Result<GroupRef> join(std::span<StateCell* const> cells);
  Result<GroupRef> group_of(StateCell& cell);
  GroupRef make(StateCell& cell);
  void absorb(VariableGroup& into, const GroupRef& other);
  void place(VariableGroup& group, const ActorRef& actor);
  void end_predecessors(VariableGroup& group);
  Status check_values(const VariableGroup& group, std::span<const uint32_t> except) const;

  DeviceSite& site_;
  RuleTable& rules_;
  mutable std::mutex mutex_;
  std::optional<MirrorTarget> mirror_;  ///< guarded by the mutex
  std::atomic<uint64_t> last_stream_{0};
};

}  // namespace troupe
