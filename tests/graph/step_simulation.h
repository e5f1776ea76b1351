// StepSimulation: drives a StepState with integers for tensors and completes ready nodes in any order. It checks
// that no value is lost, taken twice or left behind. Tests compare what ran with step_reference.h. One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "graph/plan/step_state.h"
#include "tests/graph/step_reference.h"

namespace troupe::testing {

/// What Send nodes have sent, by tensor_name, frame and iteration: a value, or dead.
using Rendezvous = std::map<std::tuple<std::string, uint64_t, uint64_t>, std::optional<int64_t>>;

class StepSimulation {
 public:
  /// `choose(n)` returns which of n running nodes ends next.
  using Choose = std::function<size_t(size_t)>;

  explicit StepSimulation(const Plan& plan) : plan_(plan), state_(plan) {}
  /// For one of several partitions, which share the rendezvous.
  StepSimulation(const Plan& plan, Rendezvous& rendezvous)
      : plan_(plan), state_(plan), rendezvous_(&rendezvous) {}

  /// Runs one whole step and returns which nodes ran, and where. Each feed has the value of its index.
  std::map<RunPlace, Ran> run(const Choose& choose) { return run(choose, SIZE_MAX); }
  /// Runs a step in parts: call begin(), then step() until it returns false, because no node can end any more.
  void begin();
  bool step(const Choose& choose);
  /// Returns the nodes that have begun and not ended: Recv nodes whose Send did not run.
  size_t under_way() const { return under_way_.size(); }
  const std::map<RunPlace, Ran>& ran() const { return ran_; }
  /// Runs a step that is stopped after `limit` nodes.
  void break_off(const Choose& choose, size_t limit) {
    run(choose, limit);
    state_.stop();
  }

  /// Returns what Fetch number i received; nothing if it was dead or never arrived.
  std::optional<int64_t> fetched(uint32_t i) const {
    const auto at = fetched_.find(i);
    return at == fetched_.end() ? std::nullopt : std::optional(at->second);
  }
  /// Returns how many slots exist, used or not.
  size_t slots() const { return state_.slots(); }

 private:
  struct Values;
  std::map<RunPlace, Ran> run(const Choose& choose, size_t limit);
  bool can_end(Activation activation) const;
  Rendezvous::key_type token(Activation activation) const;
  void carry_out(Activation activation);
  std::vector<std::optional<int64_t>> take_inputs(Activation activation);

  const Plan& plan_;
  StepState state_;
  Rendezvous* rendezvous_ = nullptr;
  std::vector<Activation> under_way_;
  std::vector<std::optional<int64_t>> slots_;
  std::map<RunPlace, Ran> ran_;
  std::map<uint32_t, int64_t> fetched_;
};

}  // namespace troupe::testing
