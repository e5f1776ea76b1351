#include "actors/services/variable/mirrored_variables.h"

#include <algorithm>

namespace troupe {

void MirroredVariables::sent(const StateCell& cell, uint64_t mirror) {
  const std::lock_guard lock(mutex_);
  variables_[cell.id()].mirror = mirror;
}

void MirroredVariables::adopted(const std::vector<std::shared_ptr<StateCell>>& cells) {
  const std::lock_guard lock(mutex_);
  for (const auto& cell : cells) variables_[cell->id()].is_adopted = true;
}

uint64_t MirroredVariables::claim(uint64_t attempt) {
  bool is_later = false;
  {
    const std::lock_guard lock(mutex_);
    is_later = attempt > attempt_;
    attempt_ = std::max(attempt_, attempt);
    attempt = attempt_;
  }
  if (is_later) drop_if([](const Variable&) { return true; });
  return attempt;
}

Status MirroredVariables::take_part(uint64_t attempt, bool owns_nothing) {
  bool is_later = false;
  {
    const std::lock_guard lock(mutex_);
    if (attempt < attempt_)
      return aborted("attempt " + std::to_string(attempt_) +
                     " of a training has begun here, which is later than attempt " + std::to_string(attempt));
    is_later = attempt > attempt_;
    attempt_ = attempt;
  }
  if (owns_nothing) drop_if([&](const Variable& variable) { return is_later || !variable.is_adopted; });
  return {};
}

void MirroredVariables::give_away(uint64_t mirror) {
  drop_if([&](const Variable& variable) { return variable.mirror == mirror; });
}

void MirroredVariables::drop_if(const std::function<bool(const Variable&)>& selected) {
  std::vector<std::shared_ptr<StateCell>> dropped;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(variables_, [&](const auto& entry) {
      auto cell = site_.state->at(entry.first);
      if (!cell) return true;  // it was dropped with its container
      if (!selected(entry.second)) return false;
      dropped.push_back(std::move(cell));
      return true;
    });
  }
  for (const auto& cell : dropped)
    if (site_.state->drop(*cell)) site_.drop(*cell);
}

}  // namespace troupe
