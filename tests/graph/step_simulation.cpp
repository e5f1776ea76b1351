#include "tests/graph/step_simulation.h"

#include <boost/test/unit_test.hpp>

#include "tests/graph/flow_graph.h"

namespace troupe::testing {

/// The outputs of one node: a value each, or dead.
struct StepSimulation::Values {
  std::vector<std::optional<int64_t>>& slots;
  std::vector<std::optional<int64_t>> outputs;

  bool dead(uint32_t output) const { return !outputs[output]; }
  void put(uint32_t output, uint32_t slot, bool last) {
    BOOST_REQUIRE(slot < slots.size());
    BOOST_REQUIRE_MESSAGE(outputs[output], "a value is used after it was moved");
    BOOST_REQUIRE_MESSAGE(!slots[slot], "a value is overwritten");
    slots[slot] = outputs[output];
    if (last) outputs[output].reset();
  }
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
  ran_.clear();
  fetched_.clear();
  slots_.assign(state_.slots(), std::nullopt);
  state_.begin();
  std::vector<Activation> under_way;
  for (size_t done = 0; done < limit; ++done) {
    for (Activation activation; state_.next(activation);) under_way.push_back(activation);
    if (under_way.empty()) break;
    const size_t chosen = choose(under_way.size());
    const Activation activation = under_way[chosen];
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(chosen));
    carry_out(activation);
  }
  if (limit == SIZE_MAX && state_.complete())
    for (const auto& slot : slots_) BOOST_REQUIRE_MESSAGE(!slot, "a value is left behind");
  return std::move(ran_);
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
  if (ran.kind == Ran::Live && plan_node.kind == PlanKind::Feed) {
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
