// StepSimulation: drives a StepState with integers for tensors, completing ready nodes in any order, and
// checks on the way that no value is lost, taken twice or left behind. What ran is to be compared with
// step_reference.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "graph/step_state.h"
#include "tests/graph/step_reference.h"

namespace troupe::testing {

class StepSimulation {
 public:
  /// `choose(n)` says which of n nodes under way ends next.
  using Choose = std::function<size_t(size_t)>;

  explicit StepSimulation(const Plan& plan) : plan_(plan), state_(plan) {}

  /// One whole step; what ran, where. Feeds have the value of their index.
  std::map<RunPlace, Ran> run(const Choose& choose) { return run(choose, SIZE_MAX); }
  /// A step that is given up after `limit` nodes.
  void break_off(const Choose& choose, size_t limit) {
    run(choose, limit);
    state_.stop();
  }

  /// What Fetch number i got; nothing: dead, or it never came.
  std::optional<int64_t> fetched(uint32_t i) const {
    const auto at = fetched_.find(i);
    return at == fetched_.end() ? std::nullopt : std::optional(at->second);
  }
  /// In existence, used or not.
  size_t slots() const { return state_.slots(); }

 private:
  struct Values;
  std::map<RunPlace, Ran> run(const Choose& choose, size_t limit);
  void carry_out(Activation activation);
  std::vector<std::optional<int64_t>> take_inputs(Activation activation);

  const Plan& plan_;
  StepState state_;
  std::vector<std::optional<int64_t>> slots_;
  std::map<RunPlace, Ran> ran_;
  std::map<uint32_t, int64_t> fetched_;
};

}  // namespace troupe::testing
