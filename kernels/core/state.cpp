#include "kernels/core/state.h"

#include <algorithm>
#include <utility>

namespace troupe {

StateCell::StateCell(std::string name, DType dtype, PartialShape shape, uint32_t id, std::string home,
                     std::optional<RowSlice> slice)
    : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), id_(id), home_(std::move(home)),
      slice_(std::move(slice)) {}

StateCell::Reading StateCell::try_read(Snapshot& snapshot) const {
  const std::lock_guard guard(lock_);
  if (taken_) return Reading::Busy;
  if (!snapshot_.value.valid()) return Reading::Uninitialized;
  snapshot = snapshot_;
  return Reading::Ready;
}

StateCell::Reading StateCell::reading() const {
  const std::lock_guard guard(lock_);
  if (taken_) return Reading::Busy;
  return snapshot_.value.valid() ? Reading::Ready : Reading::Uninitialized;
}

uint64_t StateCell::version() const {
  const std::lock_guard guard(lock_);
  return snapshot_.version;
}

std::shared_ptr<StateOwner> StateCell::owner() const {
  const std::lock_guard guard(lock_);
  return owner_;
}

void StateCell::set_owner(std::shared_ptr<StateOwner> owner) {
  const std::lock_guard guard(lock_);
  std::swap(owner_, owner);  // the old owner is released after the lock
}

std::optional<Tensor> StateCell::take_for_write() {
  const std::lock_guard guard(lock_);
  // Other threads take references under this lock only, so a buffer that nobody else holds now stays unshared.
  if (taken_ || !snapshot_.value.unique()) return std::nullopt;
  taken_ = true;
  return std::exchange(snapshot_.value, {});
}

std::optional<Tensor> StateCell::unlocked(const UnlockedPhase& phase) const {
  const std::lock_guard guard(lock_);
  if (taken_ || !phase || phase != phase_) return std::nullopt;
  return snapshot_.value;
}

void StateCell::count_unlocked_change() {
  const std::lock_guard guard(lock_);
  ++snapshot_.version;
}

void StateCell::publish(Tensor value, const UnlockedPhase& phase) {
  const std::lock_guard guard(lock_);
  phase_ = value.unique() ? phase : UnlockedPhase();
  std::swap(snapshot_.value, value);  // the old value is released after the lock
  ++snapshot_.version;
  taken_ = false;
}

void StateCell::publish(Snapshot snapshot) {
  const std::lock_guard guard(lock_);
  phase_ = {};
  std::swap(snapshot_, snapshot);
  taken_ = false;
}

void StateCell::put_back(Tensor value) {
  const std::lock_guard guard(lock_);
  snapshot_.value = std::move(value);
  taken_ = false;
}

std::string state_name(const Node& node) {
  const auto text = [&](std::string_view attr) {
    const AttrValue* value = node.attrs.find(attr);
    const auto* string = value ? std::get_if<std::string>(value) : nullptr;
    return string ? *string : std::string{};
  };
  const std::string shared_name = text("shared_name"), container = text("container");
  const std::string& name = shared_name.empty() ? node.name : shared_name;
  return container.empty() ? name : container + ';' + name;
}

bool is_variable(const Node& node) {
  return node.type() == "VariableV2" || node.type() == "Variable" || node.type() == "VarHandleOp";
}

Result<std::shared_ptr<StateCell>> StateTable::require(const std::string& container, const std::string& name,
                                                       DType dtype, const PartialShape& shape,
                                                       const std::string& home,
                                                       const std::optional<RowSlice>& slice) {
  const std::lock_guard guard(mutex_);
  std::shared_ptr<StateCell>& cell = containers_[container][name];
  if (!cell) {
    while (numbered_.contains(next_id_)) ++next_id_;  // numbers begin anew after 2^32 cells
    cell = std::make_shared<StateCell>(name, dtype, shape, next_id_++, home, slice);
    numbered_.emplace(cell->id(), Place{cell, container});
  }
  if (!home.empty() && !cell->home().empty() && cell->home() != home)
    return invalid_argument("the state '" + name + "' is on " + cell->home() + " and cannot be used on " +
                            home);
  if (cell->dtype() == dtype && cell->shape() == shape) return cell;
  const auto describe = [](DType type, const PartialShape& of) {
    return std::string(troupe::name(type)) + of.text();
  };
  return invalid_argument("the state '" + name + "' exists as " + describe(cell->dtype(), cell->shape()) +
                          " and cannot be used as " + describe(dtype, shape));
}

Result<std::shared_ptr<StateCell>> StateTable::require(const std::string& container, const Node& node,
                                                       const std::string& home) {
  // State without a value, such as a queue, is a name only.
  auto cell = is_variable(node) ? require(container, state_name(node), node.attrs.get<DType>("dtype"),
                                          node.output_shapes[0], home, row_slice_of(node))
                                : require(container, state_name(node), DType::Resource, PartialShape{}, home);
  if (!cell) return std::move(cell).status().at_node(node.type(), node.name);
  return cell;
}

std::shared_ptr<StateCell> StateTable::find(std::string_view container, std::string_view name) const {
  const std::lock_guard guard(mutex_);
  const auto names = containers_.find(container);
  if (names == containers_.end()) return nullptr;
  const auto at = names->second.find(name);
  return at == names->second.end() ? nullptr : at->second;
}

std::shared_ptr<StateCell> StateTable::at(uint32_t id) const {
  const std::lock_guard guard(mutex_);
  const auto at = numbered_.find(id);
  return at == numbered_.end() ? nullptr : at->second.cell;
}

std::optional<std::string> StateTable::container_of(const StateCell& cell) const {
  const std::lock_guard guard(mutex_);
  const auto at = numbered_.find(cell.id());
  if (at == numbered_.end() || at->second.cell.get() != &cell) return std::nullopt;
  return at->second.container;
}

std::vector<std::shared_ptr<StateCell>> StateTable::move(std::string_view from, const std::string& to) {
  std::vector<std::shared_ptr<StateCell>> replaced;  // so that no value is released under the lock
  const std::lock_guard guard(mutex_);
  const auto names = containers_.find(from);
  if (names == containers_.end()) return replaced;
  const Names moved = std::move(names->second);
  containers_.erase(names);
  Names& target = containers_[to];
  for (const auto& [name, cell] : moved) {
    numbered_.at(cell->id()).container = to;
    std::shared_ptr<StateCell>& place = target[name];
    if (place) {
      numbered_.erase(place->id());
      replaced.push_back(std::move(place));
    }
    place = cell;
  }
  return replaced;
}

std::vector<std::shared_ptr<StateCell>> StateTable::cells(std::string_view container) const {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<StateCell>> result;
  if (const auto names = containers_.find(container); names != containers_.end())
    for (const auto& [name, cell] : names->second) result.push_back(cell);
  return result;
}

std::vector<std::shared_ptr<StateCell>> StateTable::cells() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<StateCell>> result;
  result.reserve(numbered_.size());
  for (const auto& [id, place] : numbered_) result.push_back(place.cell);
  return result;
}

std::vector<std::shared_ptr<StateCell>> StateTable::drop(std::string_view container) {
  std::vector<std::shared_ptr<StateCell>> dropped;  // so that no value is released under the lock
  const std::lock_guard guard(mutex_);
  const auto names = containers_.find(container);
  if (names == containers_.end()) return dropped;
  for (auto& [name, cell] : names->second) {
    numbered_.erase(cell->id());
    dropped.push_back(std::move(cell));
  }
  containers_.erase(names);
  return dropped;
}

bool StateTable::drop(const StateCell& cell) {
  std::shared_ptr<StateCell> dropped;  // so that no value is released under the lock
  const std::lock_guard guard(mutex_);
  const auto numbered = numbered_.find(cell.id());
  if (numbered == numbered_.end() || numbered->second.cell.get() != &cell) return false;
  dropped = std::move(numbered->second.cell);
  const auto names = containers_.find(numbered->second.container);
  names->second.erase(cell.name());
  if (names->second.empty()) containers_.erase(names);
  numbered_.erase(numbered);
  return true;
}

std::vector<std::shared_ptr<StateCell>> StateTable::reset(std::span<const std::string> named) {
  constexpr std::string_view default_container = "localhost";
  const auto is_named = [&](std::string_view name) {
    const size_t end = name.find(';');
    const std::string_view of = end == std::string_view::npos ? default_container : name.substr(0, end);
    return named.empty() || std::ranges::any_of(named, [&](std::string_view some) {
             return (some.empty() ? default_container : some) == of;
           });
  };
  std::vector<std::shared_ptr<StateCell>> dropped;  // so that no value is released under the lock
  const std::lock_guard guard(mutex_);
  for (auto& [container, names] : containers_)
    std::erase_if(names, [&](const auto& entry) {
      if (!is_named(entry.first)) return false;
      numbered_.erase(entry.second->id());
      dropped.push_back(entry.second);
      return true;
    });
  std::erase_if(containers_, [](const auto& entry) { return entry.second.empty(); });
  return dropped;
}

}  // namespace troupe
