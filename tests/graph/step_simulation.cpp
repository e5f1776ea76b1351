#include "tests/graph/step_simulation.h"

#include <boost/test/unit_test.hpp>

#include "tests/graph/flow_graph.h"

namespace troupe::testing {

/// The outputs of one node: for each a value, or dead.
struct StepSimulation::Values {
  std::vector<std::optional<int64_t>>& slots;
  std::vector<std::optional<int64_t>> outputs;
  bool dropped = false;

  bool dead(uint32_t output) const { return !outputs[output]; }
  void put(uint32_t output, uint32_t slot, bool last) {
    BOOST_REQUIRE(slot < slots.size());
    BOOST_REQUIRE_MESSAGE(!dropped, "a value is used after it was dropped");
    BOOST_REQUIRE_MESSAGE(outputs[output], "a value is used after it was moved");
    BOOST_REQUIRE_MESSAGE(!slots[slot], "a value is overwritten");
    slots[slot] = outputs[output];
    if (last) outputs[output].reset();
  }
  void drop() { dropped = true; }
  void pass(uint32_t from, uint32_t to, bool last) {
    BOOST_REQUIRE(from < slots.size() && to < slots.size());
    BOOST_REQUIRE_MESSAGE(slots[from], "a held value is not there");
    BOOST_REQUIRE_MESSAGE(!slots[to], "a value is overwritten");
    slots[to] = slots[from];
    if (last) slots[from].reset();
  }
  void clear(uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) slots[i].reset();
  }
  void grow(uint32_t count) { slots.resize(count); }
};

std::map<RunPlace, Ran> StepSimulation::run(const Choose& choose, size_t limit) {
  begin();
  for (size_t done = 0; done < limit && step(choose);) ++done;
  if (limit == SIZE_MAX && state_.complete())
    for (const auto& slot : slots_) BOOST_REQUIRE_MESSAGE(!slot, "a value is left behind");
  return std::move(ran_);
}

void StepSimulation::begin() {
  ran_.clear();
  fetched_.clear();
  under_way_.clear();
  slots_.assign(state_.slots(), std::nullopt);
  state_.begin();
}

bool StepSimulation::step(const Choose& choose) {
  for (Activation activation; state_.next(activation);) under_way_.push_back(activation);
  std::vector<size_t> able;
  for (size_t i = 0; i < under_way_.size(); ++i)
    if (can_end(under_way_[i])) able.push_back(i);
  if (able.empty()) return false;
  const size_t chosen = able[choose(able.size())];
  const Activation activation = under_way_[chosen];
  under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(chosen));
  carry_out(activation);
  return true;
}

Rendezvous::key_type StepSimulation::token(Activation activation) const {
  const Where where = state_.where(activation);
  return {plan_.node(activation.node).attrs.get<std::string>("tensor_name"), where.frame, where.iteration};
}

bool StepSimulation::can_end(Activation activation) const {
  return !rendezvous_ || plan_.node(activation.node).type() != "_Recv" ||
         rendezvous_->contains(token(activation));
}

std::vector<std::optional<int64_t>> StepSimulation::take_inputs(Activation activation) {
  std::vector<std::optional<int64_t>> inputs;
  const uint32_t first = state_.first_slot(activation);
  for (uint32_t i = first; i < first + plan_.nodes()[activation.node].inputs; ++i)
    inputs.push_back(std::exchange(slots_[i], {}));
  return inputs;
}

void StepSimulation::carry_out(Activation activation) {
  const PlanNode& plan_node = plan_.nodes()[activation.node];
  const Node& node = plan_.node(activation.node);
  auto inputs = take_inputs(activation);
  Values values{slots_, std::vector<std::optional<int64_t>>(plan_node.outputs)};
  const Where where = state_.where(activation);
  Ran ran{activation.dead() ? Ran::Dead : Ran::Live, 0, 0};
  if (rendezvous_ && node.type() == "_Send" && !std::get<0>(token(activation)).empty()) {
    const bool is_new =
        rendezvous_->emplace(token(activation), activation.dead() ? std::nullopt : inputs[0]).second;
    BOOST_REQUIRE_MESSAGE(is_new, "a tensor is sent twice");
  } else if (rendezvous_ && node.type() == "_Recv") {
    const std::optional<int64_t> value = rendezvous_->extract(token(activation)).mapped();
    values.outputs[0] = value;
    ran = {value ? Ran::Live : Ran::Dead, value.value_or(0), 0};
  } else if (ran.kind == Ran::Live && plan_node.kind == PlanKind::Feed) {
    values.outputs[0] = plan_node.index;
  } else if (ran.kind == Ran::Live && plan_node.kind == PlanKind::Fetch) {
    fetched_[plan_node.index] = *inputs[0];
  } else if (ran.kind == Ran::Live) {
    std::vector<int64_t> live;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) continue;
      live.push_back(*inputs[i]);
      if (plan_node.kind == PlanKind::Merge) ran.which = i;
    }
    BOOST_REQUIRE_EQUAL(live.size(), plan_node.kind == PlanKind::Merge ? 1 : inputs.size());
    ran.value = compute(node, live);
    for (auto& output : values.outputs) output = ran.value;
    if (plan_node.kind == PlanKind::Merge) values.outputs[1] = ran.which;
    if (node.type() == "Switch") {
      ran.which = static_cast<uint32_t>(live[1] & 1);
      values.outputs[1 - ran.which].reset();
    }
  }
  if (plan_node.kind != PlanKind::Feed && plan_node.kind != PlanKind::Fetch) {
    const bool is_new = ran_.emplace(RunPlace{node.id, where.frame, where.iteration}, ran).second;
    BOOST_REQUIRE_MESSAGE(is_new, "a node ran twice in one place");
  }
  state_.done(activation, values);
}

}  // namespace troupe::testing
