// What determines the numbers of random ops in sessions: their own seeds, the session's seed, or neither.
#include <boost/test/unit_test.hpp>

#include "graph/build/scope.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::random_steps_test {
namespace {

using test::SimulatedNode;

struct Fixture {
  Output draw(const Scope& scope, int64_t seed, int64_t seed2 = 0) {
    return scope.add_one("RandomUniform", {scope.constant(Tensor::vector<int32_t>({100}))},
                         {{"dtype", DType::Float}, {"seed", seed}, {"seed2", seed2}});
  }
  static Tensor run(Session& session, Output output) { return session.run({output})[0]; }

  test::Simulation simulation{1};
  SimulatedDisk disk{1};
  SimulatedNode node{simulation, disk, 2};
  Graph graph{node.actors.library->ops};
  Scope g{graph};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(random_steps, Fixture)

BOOST_AUTO_TEST_CASE(equal_seeds_give_equal_numbers_whatever_else_runs) {
  const Output a = draw(g, 1), b = draw(g, 1), c = draw(g, 2);
  const Output elsewhere = draw(g.with_device("/job:test/task:1"), 1);
  Session session = node.session(graph);
  const Tensor first = run(session, a), second = run(session, a);
  BOOST_TEST(!identical(first, second));
  BOOST_TEST(identical(run(session, b), first));  // the first run of b, after two steps without b
  BOOST_TEST(!identical(run(session, c), first));
  const auto both = session.run({b, elsewhere});
  BOOST_TEST(identical(both[0], second));
  BOOST_TEST(identical(both[1], first));
  Session other = node.session(graph, {.seed = 9});
  (void)run(other, c);
  BOOST_TEST(identical(run(other, elsewhere), first));
  BOOST_TEST(identical(run(other, elsewhere), second));
}

BOOST_AUTO_TEST_CASE(a_node_counts_its_runs_over_all_signatures) {
  const Output a = draw(g, 0, 5), twice = g.add_one("Add", {a, a});
  Session session = node.session(graph);
  const Tensor first = run(session, a);
  const auto second = session.run({a, twice});
  BOOST_TEST(!identical(second[0], first));
  BOOST_TEST(!identical(run(session, a), second[0]));
}

BOOST_AUTO_TEST_CASE(without_any_seed_sessions_differ) {
  const Output a = draw(g, 0), b = draw(g, 0);
  Session one = node.session(graph), two = node.session(graph);
  const Tensor first = run(one, a);
  BOOST_TEST(!identical(run(two, a), first));
  BOOST_TEST(!identical(run(one, a), first));
  BOOST_TEST(!identical(run(one, b), first));
}

BOOST_AUTO_TEST_CASE(the_seed_of_the_session_repeats_it) {
  const Output a = draw(g, 0), b = draw(g, 0);
  Session one = node.session(graph, {.seed = 0}), two = node.session(graph, {.seed = 0}),
          other = node.session(graph, {.seed = 1});
  const auto first = one.run({a, b});
  const auto again = two.run({a, b});
  BOOST_TEST(identical(again[0], first[0]));
  BOOST_TEST(identical(again[1], first[1]));
  BOOST_TEST(!identical(first[0], first[1]));
  BOOST_TEST(!identical(other.run({a, b})[0], first[0]));
}

// In training only the round counts: a repeated round draws the same numbers.
BOOST_AUTO_TEST_CASE(a_training_round_repeats_seeds_of_both_kinds) {
  const Output a = draw(g, 1), b = draw(g, 0);
  Session session = node.session(graph, {.seed = 7});
  const auto round = [&](uint64_t number) {
    return session.run({}, {a, b}, {.training = true, .round = number});
  };
  const auto first = round(3), next = round(4), again = round(3);
  for (const size_t i : {0, 1}) {
    BOOST_TEST(identical(again[i], first[i]));
    BOOST_TEST(!identical(next[i], first[i]));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::random_steps_test
