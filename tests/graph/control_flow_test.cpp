// cond and while_loop on integers (flow_graph.h): a step state runs what they build.
#include "graph/build/control_flow.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/graph/flow_graph.h"
#include "tests/graph/step_simulation.h"
#include "tests/graph/toy_graph.h"

namespace troupe::control_flow_test {
namespace {

using namespace testing;

/// Feeds, and the values that a step returns for fetches. Feed i has the value i.
struct Built {
  FlowGraph flow;
  Scope scope{flow.graph()};
  std::vector<Output> feeds;

  Output feed() {
    feeds.push_back(scope.add_one("Op", {}));
    return feeds.back();
  }
  /// Adds a feed of this value.
  Output value(size_t n) {
    while (feeds.size() <= n) feed();
    return feeds[n];
  }
  Output increment(const Scope& s, Output x) { return s.add_one("Increment", {x}); }
  Output below(const Scope& s, Output x, int64_t limit) {
    return s.add_one("Below", {x}, {{"limit", limit}});
  }

  std::vector<int64_t> run(const std::vector<Output>& fetches, uint64_t seed = 1) {
    const auto plan = flow.plan(feeds, fetches);
    StepSimulation simulation(*plan);
    std::mt19937_64 random(seed);
    ran = simulation.run([&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); });
    std::vector<int64_t> results;
    for (uint32_t i = 0; i < fetches.size(); ++i) results.push_back(simulation.fetched(i).value_or(-1));
    return results;
  }
  /// How often the node ran alive in the last run.
  size_t times(Output output) const {
    size_t n = 0;
    for (const auto& [place, what] : ran) n += std::get<0>(place) == output.node && what.kind == Ran::Live;
    return n;
  }
  std::map<RunPlace, Ran> ran;
};

using Values = std::vector<int64_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(control_flow)

// x < 5 ? x + 1 : y + 2, for x = 3 and x = 7
BOOST_AUTO_TEST_CASE(one_branch_runs) {
  for (const size_t x : {3, 7}) {
    Built b;
    const Output in = b.value(x), other = b.value(1);
    Output then_op, other_op;
    const auto results = cond(
        b.scope, b.below(b.scope, in, 5),
        [&](const Scope& s) {
          return std::vector{then_op = b.increment(s, in), in};
        },
        [&](const Scope& s) {
          return std::vector{other_op = b.increment(s, b.increment(s, other)), other};
        });
    BOOST_REQUIRE(results.size() == 2);
    BOOST_TEST(b.run(results) == (x == 3 ? Values{4, 3} : Values{3, 1}), boost::test_tools::per_element());
    BOOST_TEST(b.times(then_op) == (x == 3));
    BOOST_TEST(b.times(other_op) == (x == 7));
  }
}

// Nodes built outside a branch always run, even if only one branch uses them. Nodes without inputs run only if their branch does.
BOOST_AUTO_TEST_CASE(outside_and_inside) {
  Built b;
  const Output seven = b.value(7), outside = b.increment(b.scope, seven);
  Output source, effect;
  const auto results = cond(
      b.scope, b.below(b.scope, seven, 5),
      [&](const Scope& s) {
        source = s.add_one("Op", {});
        effect = s.add_one("Op", {source});
        return std::vector{outside, Output{effect.node, Output::control}};
      },
      [&](const Scope& s) {
        return std::vector{seven, Output{s.add("Op", {}), Output::control}};
      });
  BOOST_TEST(b.run({results[0]})[0] == 7);
  BOOST_TEST(b.times(outside) == 1);
  BOOST_TEST(b.times(source) == 0);
  BOOST_TEST(b.times(effect) == 0);
  BOOST_TEST(b.times(results[1]) == 1);
}

// i = 0; while (i < 4) ++i, with a second variable whose value doubles; checked from Enter to Exit.
BOOST_AUTO_TEST_CASE(a_loop_runs_until_its_condition_fails) {
  for (const int64_t parallel : {1, 2, 10}) {
    Built b;
    const Output zero = b.value(0), three = b.value(3);
    Output body_op;
    const auto results = while_loop(
        b.scope, {zero, three}, [&](const Scope& s, auto v) { return b.below(s, v[0], 4); },
        [&](const Scope& s, auto v) {
          body_op = b.increment(s, v[0]);
          return std::vector{body_op, b.increment(s, b.increment(s, v[1]))};
        },
        {parallel, "count", {}});
    BOOST_TEST(b.run(results) == (Values{4, 11}), boost::test_tools::per_element());
    BOOST_TEST(b.times(body_op) == 4);
    BOOST_TEST(b.flow.graph().node(results[0].node).name.starts_with("count/"));
  }
}

BOOST_AUTO_TEST_CASE(a_loop_that_never_begins) {
  Built b;
  const Output nine = b.value(9);
  const auto results = while_loop(
      b.scope, {nine}, [&](const Scope& s, auto v) { return b.below(s, v[0], 4); },
      [&](const Scope& s, auto v) { return std::vector{b.increment(s, v[0])}; });
  BOOST_TEST(b.run(results)[0] == 9);
}

// Values from outside exist in every iteration. Ops that use only invariants, or nothing, run once per iteration.
BOOST_AUTO_TEST_CASE(invariants_and_sources_in_a_loop) {
  Built b;
  const Output zero = b.value(0), six = b.value(6);
  Output of_invariant, of_nothing, in_condition;
  const auto results = while_loop(
      b.scope, {zero, zero},
      [&](const Scope& s, auto v) {
        in_condition = b.increment(s, six);
        return b.below(s, v[0], 3);
      },
      [&](const Scope& s, auto v) {
        of_invariant = b.increment(s, six);
        of_nothing = s.add_one("Op", {});
        return std::vector{b.increment(s, v[0]), of_invariant};
      });
  BOOST_TEST(b.run(results) == (Values{3, 7}), boost::test_tools::per_element());
  BOOST_TEST(b.times(of_invariant) == 3);
  BOOST_TEST(b.times(of_nothing) == 3);
  BOOST_TEST(b.times(in_condition) == 4);
}

// for i in 0..3: for j in 0..2: n += (j < 1 ? 1 : a constant from outside), so a conditional in a loop in a loop
BOOST_AUTO_TEST_CASE(everything_nests) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Built b;
    const Output zero = b.value(0), five = b.value(5);
    const auto sum = while_loop(
        b.scope, {zero, zero}, [&](const Scope& s, auto v) { return b.below(s, v[0], 3); },
        [&](const Scope& outer, auto v) {
          const auto inner = while_loop(
              outer, {zero, v[1]}, [&](const Scope& s, auto w) { return b.below(s, w[0], 2); },
              [&](const Scope& s, auto w) {
                const auto chosen = cond(
                    s, b.below(s, w[0], 1), [&](const Scope& t) { return std::vector{b.increment(t, w[1])}; },
                    [&](const Scope& t) {
                      return std::vector{
                          b.increment(t, b.increment(t, w[1])),
                      };
                    });
                const auto unused = cond(
                    s, b.below(s, five, 1), [&](const Scope&) { return std::vector{five}; },
                    [&](const Scope&) { return std::vector{v[0]}; });
                return std::vector{b.increment(s, w[0]),
                                   s.with_control({unused[0]}).add_one("Identity", {chosen[0]})};
              });
          return std::vector{b.increment(outer, v[0]), inner[1]};
        });
    BOOST_TEST(b.run(sum, seed) == (Values{3, 9}), boost::test_tools::per_element());
    BOOST_TEST(value_or_throw(assign_frames(b.flow.graph())).frames.size() == 3);
  }
}

// A loop in a branch that is not taken
BOOST_AUTO_TEST_CASE(a_loop_in_a_branch) {
  for (const size_t x : {2, 8}) {
    Built b;
    const Output in = b.value(x);
    Output body_op;
    const auto results = cond(
        b.scope, b.below(b.scope, in, 5),
        [&](const Scope& s) {
          return while_loop(
              s, {in}, [&](const Scope& t, auto v) { return b.below(t, v[0], 6); },
              [&](const Scope& t, auto v) { return std::vector{body_op = b.increment(t, v[0])}; });
        },
        [&](const Scope&) { return std::vector{in}; });
    BOOST_TEST(b.run(results)[0] == (x == 2 ? 6 : 8));
    BOOST_TEST(b.times(body_op) == (x == 2 ? 4 : 0));
  }
}

// A control dependency on a node outside a loop becomes one of the loop, because frames do not allow such an edge.
BOOST_AUTO_TEST_CASE(waiting_for_what_is_outside) {
  Built b;
  const Output zero = b.value(0), outside = b.scope.add_one("Op", {});
  const auto results = while_loop(
      b.scope, {zero}, [&](const Scope& s, auto v) { return b.below(s, v[0], 2); },
      [&](const Scope& s, auto v) { return std::vector{b.increment(s.with_control({outside}), v[0])}; });
  BOOST_TEST(b.run(results)[0] == 2);
  const Graph& graph = b.flow.graph();
  BOOST_TEST((graph.node(graph.find("while/enter")->id).control_inputs == std::vector<NodeId>{outside.node}));
}

BOOST_AUTO_TEST_CASE(two_loops_are_two_frames) {
  Built b;
  for (int i = 0; i < 2; ++i)
    while_loop(
        b.scope, {b.value(0)}, [&](const Scope& s, auto v) { return b.below(s, v[0], 2); },
        [&](const Scope& s, auto v) { return std::vector{b.increment(s, v[0])}; });
  BOOST_TEST(value_or_throw(assign_frames(b.flow.graph())).frames.size() == 3);
}

// References enter as references: the variable is written inside the loop, and read there.
BOOST_AUTO_TEST_CASE(variables_are_brought_in_by_reference) {
  ToyGraph g;
  const Scope scope(g.graph());
  const Output v = g.variable("v"), one = g.constant("one", 1);
  const Output pred = g.op("pred", "Less", {one, one});
  Output assign, read, loop_assign;
  cond(
      scope, pred,
      [&](const Scope& s) {
        return std::vector{assign = s.add_one("AssignAdd", {v, one})};
      },
      [&](const Scope& s) { return std::vector{read = s.add_one("Neg", {v})}; });
  while_loop(
      scope, {one},
      [&](const Scope& s, auto w) {
        return s.add_one("Less", {w[0], one});
      },
      [&](const Scope& s, auto w) {
        return std::vector{loop_assign = s.add_one("AssignAdd", {v, w[0]})};
      },
      {10, "while", {PartialShape{}}});
  const auto source = [&](Output op) -> const Node& {
    return g.graph().node(g.graph().node(op.node).inputs[0].node);
  };
  BOOST_TEST(source(assign).type() == "RefSwitch");
  BOOST_TEST(source(read).id == source(assign).id);  // one Switch for both branches
  BOOST_TEST(source(loop_assign).type() == "RefEnter");
  BOOST_TEST(source(loop_assign).attrs.get<bool>("is_constant"));
  BOOST_TEST(assign_frames(g.graph()).ok());
}

namespace {

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.status().message();
  }
  return "nothing";
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_cannot_be_built) {
  ToyGraph g;
  const Scope scope(g.graph());
  const Output x = g.placeholder("x"), flag = g.op("flag", "Less", {x, x});
  const auto give = [](std::vector<Output> outputs) { return [outputs](const Scope&) { return outputs; }; };
  BOOST_TEST(refusal([&] {
               cond(scope, flag, give({x}), give({x, x}));
             }) ==
             "InvalidArgument: [cond] cond: one branch returns 1 results, the other 2; both must return "
             "the same number, at least one");
  BOOST_TEST(refusal([&] { cond(scope, flag, give({x}), give({flag})); }) ==
             "InvalidArgument: [cond] cond: result 0 is float in one branch and bool in the other");
  BOOST_TEST(refusal([&] { cond(scope, x, give({x}), give({x})); }).find("pred is float, expected bool") !=
             std::string::npos);

  const auto loop = [&](std::vector<Output> variables, std::vector<Output> body, WhileOptions options = {}) {
    return refusal([&] {
      while_loop(
          scope, variables, [&](const Scope&, auto) { return flag; },
          [&](const Scope&, auto) { return body; }, options);
    });
  };
  const Output row =
      g.add("row", {"Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{3}}}, {}, "", {}});
  BOOST_TEST(loop({}, {}) == "InvalidArgument: [while_loop] while: a loop needs at least one variable");
  BOOST_TEST(loop({x}, {}) ==
             "InvalidArgument: [while_loop] while: the body returns 0 values for 1 variables");
  BOOST_TEST(loop({x}, {flag}) ==
             "InvalidArgument: [while_loop] while: variable 0 (x:0) is float, but the body returns bool");
  BOOST_TEST(loop({row}, {x}) ==
             "InvalidArgument: [while_loop] while: variable 0 (row:0) has shape [3], but the body returns "
             "shape ?; the shape invariant of a variable must allow all its values");
  BOOST_TEST(loop({row}, {x}, {10, "while", {PartialShape{}}}) == "nothing");
  BOOST_TEST(loop({row}, {x}, {10, "while", {PartialShape{4}}}) ==
             "InvalidArgument: [while_loop] while: variable 0 (row:0) begins with shape [3], which "
             "contradicts its shape invariant [4]");
  BOOST_TEST(loop({row}, {x}, {10, "while", {{}, {}}}) ==
             "InvalidArgument: [while_loop] while: there are 1 variables, but 2 shape invariants");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::control_flow_test
