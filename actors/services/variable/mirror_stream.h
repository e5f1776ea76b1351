// MirrorStream: turns the changes of one group of variables into messages to the mirror of the device
// (messages/schemas/mirror.capnp). Owned by the group's actor, in whose handlers it is used.
#pragma once

#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "actors/services/variable/mirrored_variables.h"
#include "actors/services/variable/variable_groups.h"

namespace troupe {

namespace wire {
struct Update;
}

class MirrorStream {
 public:
  using Cells = std::vector<std::shared_ptr<StateCell>>;

  /// `number` is from VariableGroups::next_stream().
  MirrorStream(MirrorTarget target, uint64_t number, const StateTable& state, MirroredVariables& mirrored)
      : target_(std::move(target)), number_(number), rank_(number), state_(state), mirrored_(mirrored) {}

  const MirrorTarget& target() const { return target_; }
  uint64_t number() const { return number_; }
  /// Called when the actor has taken over cells of other actors. `rank` is from VariableGroups::next_stream().
  void raise(uint64_t rank) { rank_ = rank; }
  /// Returns whether changes of these cells of one group are mirrored: they are if their container is the shared one.
  bool covers(const Cells& cells) const;
  /// Returns the message with the present values of those of the cells that have one.
  AnyMessage values(const Cells& cells);
  /// Returns the message about an update of these cells that has been applied: the update if the mirror has the cells, otherwise
  /// their values.
  AnyMessage update(const Message<wire::Update>& update, const std::shared_ptr<const UpdateRule>& rule,
                    const Cells& cells);

 private:
  template <class Change>
  void number_change(Change& change);
  AnyMessage definition_of(const std::shared_ptr<const UpdateRule>& rule);

  const MirrorTarget target_;
  const uint64_t number_;
  uint64_t rank_;
  const StateTable& state_;
  MirroredVariables& mirrored_;
  uint64_t sequence_ = 0;
  std::unordered_set<const StateCell*> sent_;  ///< the cells that the mirror has
  /// The graphs of rules, each a wire::Graph; empty for a rule that cannot be written as one.
  std::map<std::weak_ptr<const UpdateRule>, AnyMessage, std::owner_less<>> definitions_;
};

}  // namespace troupe
