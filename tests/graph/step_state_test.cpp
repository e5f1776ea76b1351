// The rules of features.md F1-F11, first one by one, then on thousands of random graphs, which are compared with step_reference.h.
#include "graph/plan/step_state.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "tests/graph/random_flow.h"
#include "tests/graph/step_simulation.h"

namespace troupe::step_state_test {
namespace {

using namespace testing;

StepSimulation::Choose in_order() {
  return [](size_t) { return size_t{0}; };
}

StepSimulation::Choose at_random(uint64_t seed) {
  return [random = std::make_shared<std::mt19937_64>(seed)](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(*random);
  };
}

/// What a node did in an iteration of the only loop, or outside all loops.
struct Runs {
  std::map<RunPlace, Ran> ran;
  size_t runs(Output node, Ran::Kind kind) const {
    size_t n = 0;
    for (const auto& [place, what] : ran) n += std::get<0>(place) == node.node && what.kind == kind;
    return n;
  }
  size_t live(Output node) const { return runs(node, Ran::Live); }
  size_t dead(Output node) const { return runs(node, Ran::Dead); }
  int64_t value(Output node) const {
    for (const auto& [place, what] : ran)
      if (std::get<0>(place) == node.node && what.kind == Ran::Live) return what.value;
    BOOST_FAIL("the node did not run");
    return 0;
  }
};

Runs run(const FlowGraph& g, std::vector<Output> feeds = {}) {
  const auto plan = g.plan(std::move(feeds));
  StepSimulation simulation(*plan);
  return {simulation.run(in_order())};
}

/// while (counter < limit) ++counter, beginning with `start`.
struct CountingLoop {
  Output enter, merge, condition, branch, next, exit;

  CountingLoop(FlowGraph& g, Output start, int64_t limit, int64_t parallel_iterations = 10,
               const std::string& frame = "loop")
      : enter(g.enter(start, frame, false, parallel_iterations)), merge(g.loop_merge(enter)),
        condition(g.add("LoopCond", {g.add("Below", {merge}, {}, {{"limit", limit}})})),
        branch(g.add("Switch", {merge, condition})),
        next(g.add("NextIteration", {g.add("Increment", {body()})})),
        exit(g.add("Exit", {{branch.node, 0}})) {
    g.close(merge, next);
  }
  Output body() const { return {branch.node, 1}; }
};

/// Returns an output that is dead.
Output dead_value(FlowGraph& g) {
  const Output zero = g.add("Below", {g.op({})}, {}, {{"limit", INT64_MIN}});
  return {g.add("Switch", {zero, zero}).node, 1};
}

Output zero(FlowGraph& g) { return g.add("Below", {g.op({})}, {}, {{"limit", INT64_MIN}}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(step_state)

// a -> Switch(pred: fed) -> x | y -> Merge -> z
BOOST_AUTO_TEST_CASE(f1_switch_routes_and_merge_takes_the_live_input) {
  FlowGraph g;
  const Output data = g.op({}), predicate = g.op({}), branch = g.add("Switch", {data, predicate});
  const Output x = g.op({{branch.node, 0}}), y = g.op({{branch.node, 1}}), merge = g.add("Merge", {x, y}),
               z = g.op({merge});
  const bool taken = compute(g.graph().node(predicate.node), {}) & 1;
  const Runs result = run(g);
  BOOST_TEST(result.live(taken ? y : x) == 1);
  BOOST_TEST(result.dead(taken ? x : y) == 1);
  BOOST_TEST(result.value(merge) == result.value(taken ? y : x));
  BOOST_TEST(result.live(z) == 1);
}

BOOST_AUTO_TEST_CASE(f2_merge_waits_for_control_inputs_and_survives_dead_ones) {
  FlowGraph g;
  const Output dead = dead_value(g), live = g.op({});
  const Output killed = g.op({dead}), merge = g.add("Merge", {dead, live}, {killed.node, live.node}),
               after = g.op({merge});
  const Runs result = run(g);
  BOOST_TEST(result.dead(killed) == 1);
  BOOST_TEST(result.live(merge) == 1);
  BOOST_TEST(result.live(after) == 1);
}

BOOST_AUTO_TEST_CASE(f2_merge_is_dead_only_when_all_inputs_are) {
  FlowGraph g;
  const Output dead = dead_value(g), merge = g.add("Merge", {dead, dead, dead}, {g.op({}).node}),
               after = g.op({merge});
  const Runs result = run(g);
  BOOST_TEST(result.dead(merge) == 1);
  BOOST_TEST(result.dead(after) == 1);
}

// If a Merge gets several live inputs, the first counts, and the others are dropped.
BOOST_AUTO_TEST_CASE(f3_merge_runs_once) {
  FlowGraph g;
  const Output a = g.op({}), b = g.op({}), merge = g.add("Merge", {a, b});
  const Runs result = run(g);
  BOOST_TEST(result.live(merge) == 1);
}

BOOST_AUTO_TEST_CASE(f4_deadness_spreads_over_data_and_control_but_not_through_a_trigger) {
  FlowGraph g;
  const Output dead = dead_value(g), live = g.op({}), by_data = g.op({live, dead}),
               by_control = g.op({live}, {by_data.node});
  const Output send = g.add("_Send", {by_control}), trigger = g.add("ControlTrigger", {}, {by_control.node});
  const Output after = g.op({}, {trigger.node});
  const Runs result = run(g);
  BOOST_TEST(result.dead(by_data) == 1);
  BOOST_TEST(result.dead(by_control) == 1);
  BOOST_TEST(result.dead(send) == 1);
  BOOST_TEST(result.live(trigger) == 1);
  BOOST_TEST(result.live(after) == 1);
}

BOOST_AUTO_TEST_CASE(f5_a_loop_runs_until_its_condition_fails) {
  for (const int64_t parallel_iterations : {1, 2, 10}) {
    FlowGraph g;
    const CountingLoop loop(g, zero(g), 7, parallel_iterations);
    const Output after = g.op({loop.exit});
    const Runs result = run(g);
    BOOST_TEST(result.live(loop.merge) == 8);
    BOOST_TEST(result.live(loop.next) == 7);
    BOOST_TEST(result.dead(loop.next) == 1);  // F8: it goes no further
    BOOST_TEST(result.value(loop.exit) == 7);
    BOOST_TEST(result.live(after) == 1);
  }
}

// An invariant reaches every iteration, also those that began before it arrived.
BOOST_AUTO_TEST_CASE(f6_a_loop_invariant_reaches_all_iterations) {
  FlowGraph g;
  Output late = g.op({});
  for (int i = 0; i < 60; ++i) late = g.op({late});
  const CountingLoop loop(g, zero(g), 5);
  const Output invariant = g.enter(late, "loop", true), user = g.op({invariant, loop.merge});
  const auto plan = g.plan();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    StepSimulation simulation(*plan);
    const Runs result{simulation.run(at_random(seed))};
    BOOST_TEST(result.live(user) == 6);
  }
}

// In a loop of a branch that is not taken, every node is dead once, and so is every node behind the loop.
BOOST_AUTO_TEST_CASE(f7_f9_a_dead_enter_ends_the_loop) {
  FlowGraph g;
  const CountingLoop loop(g, dead_value(g), 5);
  const Output invariant = g.enter(dead_value(g), "loop", true), after = g.op({loop.exit});
  const Runs result = run(g);
  BOOST_TEST(result.dead(invariant) == 1);
  BOOST_TEST(result.dead(loop.merge) == 1);
  BOOST_TEST(result.live(loop.merge) == 0);
  BOOST_TEST(result.dead(loop.exit) == 1);
  BOOST_TEST(result.dead(after) == 1);
}

// The Merge has a control input that arrives after its dead Enter.
BOOST_AUTO_TEST_CASE(f7_a_dead_enter_and_a_later_control_input) {
  FlowGraph g;
  Output late = g.enter(g.op({}), "loop", true);
  for (int i = 0; i < 9; ++i) late = g.op({late});
  const CountingLoop loop(g, dead_value(g), 5);
  throw_if_failed(g.graph().add_control_input(loop.merge.node, late.node));
  const Output after = g.op({loop.exit});
  for (const auto& choose : {in_order(), at_random(1), at_random(2)}) {
    const auto plan = g.plan();
    StepSimulation simulation(*plan);
    const Runs result{simulation.run(choose)};
    BOOST_TEST(result.dead(loop.merge) == 1);
    BOOST_TEST(result.dead(after) == 1);
  }
}

// The Exit of the second variable depends on a value that is only
// partly alive in the loop's last iteration: its Switch is dead there.
BOOST_AUTO_TEST_CASE(f9_a_dead_exit_of_the_last_iteration_is_dead_outside) {
  FlowGraph g;
  const CountingLoop loop(g, zero(g), 3);
  const Output leaves_with_body = g.add("Exit", {g.op({{loop.branch.node, 1}, {loop.branch.node, 0}})});
  const Output after = g.op({leaves_with_body}), with_both = g.op({loop.exit, leaves_with_body});
  const Runs result = run(g);
  BOOST_TEST(result.dead(leaves_with_body) == 4);  // in each iteration, but outside once
  BOOST_TEST(result.dead(after) == 1);
  BOOST_TEST(result.dead(with_both) == 1);
}

// An Enter whose value nobody uses arrives last. The frame must end nevertheless, and deliver its dead Exit.
BOOST_AUTO_TEST_CASE(f10_a_frame_ends_when_its_last_enter_has_arrived) {
  FlowGraph g;
  Output late = g.op({});
  for (int i = 0; i < 40; ++i) late = g.op({late});
  const CountingLoop loop(g, dead_value(g), 3);
  g.enter(late, "loop");
  const Output after = g.op({loop.exit});
  const Runs result = run(g);
  BOOST_TEST(result.dead(after) == 1);
}

// There are never more than parallel_iterations iterations, so slots are reused.
BOOST_AUTO_TEST_CASE(f11_parallel_iterations_bound_what_is_in_existence) {
  size_t slots[2];
  for (const int64_t parallel_iterations : {1, 4}) {
    FlowGraph g;
    const CountingLoop loop(g, zero(g), 1000, parallel_iterations);
    Output slow = loop.body();
    for (int i = 0; i < 10; ++i) slow = g.op({slow});
    const auto plan = g.plan();
    StepSimulation simulation(*plan);
    const Runs result{simulation.run(at_random(3))};
    BOOST_TEST(result.value(loop.exit) == 1000);
    const PlanFrame& frame = plan->frames()[1];
    slots[parallel_iterations != 1] =
        (simulation.slots() - plan->frames()[0].slots - frame.held) / frame.slots;
  }
  BOOST_TEST(slots[0] == 1);
  BOOST_TEST(slots[1] == 4);
}

// for i < 3: for j < 4: there are two frames; the inner one is entered anew from each outer iteration.
BOOST_AUTO_TEST_CASE(nested_loops) {
  FlowGraph g;
  const Output start = zero(g), inner_start = zero(g);
  const CountingLoop outer(g, start, 3, 10, "outer");
  const Output from_outside = g.enter(inner_start, "outer", true);
  const CountingLoop inner(g, g.op({from_outside}, {outer.branch.node}), 4, 2, "inner");
  const Output as_zero = g.add("Below", {inner.exit}, {}, {{"limit", INT64_MIN}});
  const Output after = g.op({outer.exit});
  const Runs result = run(g);
  BOOST_TEST(result.live(as_zero) == 4);
  BOOST_TEST(result.live(after) == 1);
  std::set<uint64_t> frames;
  for (const auto& [place, what] : result.ran)
    if (std::get<0>(place) == inner.merge.node) frames.insert(std::get<1>(place));
  BOOST_TEST(frames.size() == 4);
}

// Feeds 0, 1 -> x; x and the second feed are fetched. A dead fetch is reported as dead.
BOOST_AUTO_TEST_CASE(feeds_and_fetches) {
  FlowGraph g;
  const Output a = g.op({}), b = g.op({}), x = g.op({a, b}), dead = dead_value(g);
  const auto plan = g.plan({a, b}, {x, b, dead});
  StepSimulation simulation(*plan);
  for (int step = 0; step < 2; ++step) {
    simulation.run(in_order());
    BOOST_TEST(simulation.fetched(0).value() == compute(g.graph().node(x.node), std::vector<int64_t>{0, 1}));
    BOOST_TEST(simulation.fetched(1).value() == 1);
    BOOST_TEST(!simulation.fetched(2));
  }
}

// The latest ready node runs first, but nodes carried out elsewhere (here a Send) run before all others.
BOOST_AUTO_TEST_CASE(order_of_ready_nodes) {
  FlowGraph g;
  const Output a = g.op({}), b = g.op({}), c = g.op({a}), send = g.add("_Send", {a}), d = g.op({c});
  const auto plan = g.plan();
  StepSimulation::Choose first = [](size_t) { return size_t{0}; };
  StepState state(*plan);
  struct NoValues {
    bool dead(uint32_t) { return false; }
    void put(uint32_t, uint32_t, bool) {}
    void drop() {}
    void pass(uint32_t, uint32_t, bool) {}
    void clear(uint32_t, uint32_t) {}
    void grow(uint32_t) {}
  } values;
  state.begin();
  std::vector<NodeId> order;
  for (Activation activation; state.next(activation); state.done(activation, values))
    order.push_back(plan->node(activation.node).id);
  const std::vector<NodeId> expected{a.node, send.node, c.node, d.node, b.node};
  BOOST_TEST(order == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(random_graphs_mean_what_the_rules_say) {
  size_t runs = 0, loops = 0, endless = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const FlowGraph g = random_flow(seed, static_cast<int>(seed % 4));
    const auto plan = g.plan();
    const Meaning expected = meaning_of(plan->graph());
    StepSimulation simulation(*plan);
    for (uint64_t step = 0; step < 4; ++step) {
      if (step == 2) simulation.break_off(at_random(seed), 1 + seed % 50);
      const auto ran = simulation.run(step == 0 ? in_order() : at_random(seed * 4 + step));
      const bool equal =
          expected.ends ? ran == expected.ran
                        : std::includes(expected.ran.begin(), expected.ran.end(), ran.begin(), ran.end());
      BOOST_REQUIRE_MESSAGE(equal, "seed " << seed << ", step " << step);
      runs += ran.size();
    }
    loops += plan->has_loops();
    endless += !expected.ends;
  }
  // The generator must not become trivial unnoticed.
  BOOST_TEST(runs > 100'000);
  BOOST_TEST(loops > 800);
  BOOST_TEST(endless < loops / 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::step_state_test
