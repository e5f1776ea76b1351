#include "actors/services/variable/variable_groups.h"

#include <algorithm>
#include <set>

#include "actors/services/variable/variable.h"
#include "messages/schemas/variable.capnp.h"

namespace troupe {

Result<ActorRef> VariableGroups::owner(std::span<StateCell* const> cells) {
  auto owner = cells[0]->owner();
  const bool one = owner && std::ranges::all_of(cells.subspan(1), [&](const StateCell* cell) {
                     return cell->owner() == owner;
                   });
  if (!one) {
    const std::lock_guard lock(mutex_);
    TROUPE_ASSIGN(owner, join(cells));
  }
  return static_cast<const VariableGroup&>(*owner).actor();
}

Result<ActorRef> VariableGroups::owner(std::span<const uint32_t> cells) {
  std::vector<std::shared_ptr<StateCell>> found;
  std::vector<StateCell*> pointers;
  for (const uint32_t id : cells) {
    found.push_back(site_.state->at(id));
    if (!found.back()) return not_found("no variable has number " + std::to_string(id));
    pointers.push_back(found.back().get());
  }
  if (pointers.empty()) return invalid_argument("the request does not name any variable");
  return owner(std::span<StateCell* const>(pointers));
}

Result<VariableGroups::GroupRef> VariableGroups::join(std::span<StateCell* const> cells) {
  std::vector<GroupRef> groups;
  for (StateCell* const cell : cells) {
    TROUPE_ASSIGN(auto group, group_of(*cell));
    if (group->failed_) return group;  // its actor is a stub that answers with the reason
    if (std::ranges::count(groups, group) == 0) groups.push_back(std::move(group));
  }
  const GroupRef into =
      *std::ranges::max_element(groups, {}, [](const GroupRef& group) { return group->cells_.size(); });
  const size_t before = into->cells_.size();
  for (const GroupRef& group : groups)
    if (group != into) absorb(*into, group);
  if (into->cells_.size() == before) return into;
  // The actor gets this message before any request for the new cells.
  site_.node.engine.send(into->actor(), Draft<wire::GroupChanged>().finish());
  for (const uint32_t id : std::span(into->cells_).subspan(before))
    if (const auto cell = site_.state->at(id)) cell->set_owner(into);
  return into;
}

bool VariableGroups::is_here(const StateCell& cell) const {
  return cell.home().empty() || cell.home() == site_.device->name().text();
}

Result<VariableGroups::GroupRef> VariableGroups::group_of(StateCell& cell) {
  if (cell.dtype() == DType::Resource) return invalid_argument("'" + cell.name() + "' is not a variable");
  if (!is_here(cell))
    return invalid_argument("the variable '" + cell.name() + "' is on " + cell.home() + ", not on " +
                            site_.device->name().text());
  if (site_.state->at(cell.id()).get() != &cell)
    return not_found("the variable '" + cell.name() + "' was dropped with its container");
  if (auto owner = cell.owner()) return std::static_pointer_cast<VariableGroup>(std::move(owner));
  return make(cell);
}

VariableGroups::GroupRef VariableGroups::make(StateCell& cell) {
  auto group = std::make_shared<VariableGroup>(site_.address("variable", cell));
  group->cells_ = {cell.id()};
  ChildSpec spec = child(group);
  const ActorRef actor = spec.spawn();
  place(*group, actor);
  site_.supervisor->add(std::move(spec), actor);
  cell.set_owner(group);
  return group;
}

void VariableGroups::place(VariableGroup& group, const ActorRef& actor) {
  group.actor_.put(actor);
  site_.node.engine.send(actor, Draft<wire::GroupChanged>().finish());
}

/// The actor of the other group is not restarted any more: if it ends before it has released its cells, their values may be lost.
void VariableGroups::absorb(VariableGroup& into, const GroupRef& other) {
  other->merged_ = true;
  site_.supervisor->drop(other->address_);
  into.cells_.insert(into.cells_.end(), other->cells_.begin(), other->cells_.end());
  into.predecessors_.insert(into.predecessors_.end(), other->predecessors_.begin(),
                            other->predecessors_.end());
  into.predecessors_.push_back(other);
}

ChildSpec VariableGroups::child(const GroupRef& group) {
  const auto site = site_.shared_from_this();
  return {group->address_, [this, site, group] { return spawn_variable(site, rules_, *this, group); },
          [this, site, group](const ActorRef& actor, ChildSpec::Standing standing) {
            const std::lock_guard lock(mutex_);
            if (group->merged_) return;  // this actor is not needed and ends
            group->failed_ = standing == ChildSpec::Standing::Failed;
            if (group->failed_) end_predecessors(*group);
            place(*group, actor);
          },
          [this, site, group] {
            const std::lock_guard lock(mutex_);
            if (!group->lost_.ok()) return group->lost_;
            std::vector<uint32_t> unreleased;
            for (const GroupRef& predecessor : group->predecessors_)
              unreleased.insert(unreleased.end(), predecessor->cells_.begin(), predecessor->cells_.end());
            return check_values(*group, unreleased);
          }};
}

/// Fails with DataLoss if an update of a cell of the group, except those listed, threw or was running when the actor ended: such a
/// cell must not be read.
Status VariableGroups::check_values(const VariableGroup& group, std::span<const uint32_t> except) const {
  const auto lost = [](const std::string& name) {
    return data_loss("variable " + name + " was being changed: its value is lost");
  };
  for (const uint32_t id : group.cells_) {
    if (std::ranges::count(except, id) != 0) continue;
    const auto cell = site_.state->at(id);
    if (cell && (group.computing != 0 || cell->reading() == StateCell::Reading::Busy))
      return lost(cell->name());
  }
  return {};
}

void VariableGroups::drop(StateCell& cell) {
  if (!is_here(cell)) return;
  const std::lock_guard lock(mutex_);
  const auto group = std::static_pointer_cast<VariableGroup>(cell.owner());
  if (!group || std::erase(group->cells_, cell.id()) == 0 || !group->cells_.empty()) return;
  site_.supervisor->drop(group->address_);
  site_.node.engine.stop(group->actor());
  end_predecessors(*group);
}

/// Ends the actors of the group's predecessors, because no actor will ask them to release their cells.
void VariableGroups::end_predecessors(VariableGroup& group) {
  for (const GroupRef& predecessor : group.predecessors_) site_.node.engine.stop(predecessor->actor());
  group.predecessors_.clear();
}

std::vector<ActorRef> VariableGroups::set_mirror(std::optional<MirrorTarget> mirror) {
  const std::lock_guard lock(mutex_);
  mirror_ = std::move(mirror);
  std::set<ActorRef> known;
  std::vector<ActorRef>
      actors;  // in the order of their cells, not of their addresses, so that simulations replay
  const auto add = [&](const ActorRef& actor) {
    if (known.insert(actor).second) actors.push_back(actor);
  };
  for (const auto& cell : site_.state->cells()) {
    const auto group = std::static_pointer_cast<VariableGroup>(is_here(*cell) ? cell->owner() : nullptr);
    if (!group) continue;
    add(group->actor());
    for (const GroupRef& predecessor : group->predecessors_) add(predecessor->actor());
  }
  return actors;
}

std::optional<MirrorTarget> VariableGroups::mirror() const {
  const std::lock_guard lock(mutex_);
  return mirror_;
}

VariableGroups::Members VariableGroups::members(const VariableGroup& group) const {
  const std::lock_guard lock(mutex_);
  Members members{{}, group.predecessors_};
  for (const uint32_t id : group.cells_)
    if (auto cell = site_.state->at(id)) members.cells.push_back(std::move(cell));
  return members;
}

Status VariableGroups::released(VariableGroup& group, std::span<const GroupRef> predecessors,
                                std::span<const GroupRef> ended) {
  const std::lock_guard lock(mutex_);
  for (const GroupRef& predecessor : ended)
    if (group.lost_.ok()) group.lost_ = check_values(*predecessor, {});
  std::erase_if(group.predecessors_, [&](const GroupRef& predecessor) {
    return std::ranges::count(predecessors, predecessor) != 0;
  });
  return group.lost_;
}

}  // namespace troupe
