// Sessions that check numbers: a step fails at the first node that computes NaN or infinity from finite numbers, and names it.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/build/scope.h"
#include "graph/build/variables.h"
#include "graph/passes/partition/check_finite.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"

namespace troupe::test::check_finite_test {
namespace {

Tensor number(float value) { return Tensor::scalar(value); }

struct Fixture {
  Session open() { return runtime.session(graph, {.check_finite = true}); }

  /// Returns the failure of a step with x = `value`, which must be one of these checks.
  Status failure(Session& session, float value, Output fetch) const {
    const Status status = failure_of([&] { session.run({{x, number(value)}}, {fetch}); });
    BOOST_TEST(is_not_finite(status), status.message());
    return status;
  }
  float result(Session& session, float value, Output fetch) const {
    return session.run({{x, number(value)}}, {fetch}).at(0).as<float>()[0];
  }

  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output x = placeholder(g, f32, PartialShape::scalar(), "x");
};

BOOST_FIXTURE_TEST_SUITE(check_finite_steps, Fixture)

BOOST_AUTO_TEST_CASE(the_first_node_is_named_among_those_that_follow) {
  const Output ratio = div(g.with_name("ratio"), x, x);
  const Output total = sum(g, exp(g, mul(g, ratio, x)));
  Session session = open();
  BOOST_TEST(result(session, 2, total) == std::exp(2.0f));
  const Status status = failure(session, 0, total);
  BOOST_TEST(status.node() == "ratio");
  BOOST_TEST(status.op() == "Div");
  BOOST_TEST(status.text() == "output 0 has NaN, the first numbers of the step that are not finite");
  BOOST_TEST(result(session, 3, total) == std::exp(3.0f));
}

BOOST_AUTO_TEST_CASE(a_feed_is_named) {
  const Output doubled = add(g, x, x);
  Session session = open();
  const Status status = failure(session, INFINITY, doubled);
  BOOST_TEST(status.node() == "x:0");
  BOOST_TEST(status.text() ==
             "the tensor that is fed has Inf, the first numbers of the step that are not finite");
}

BOOST_AUTO_TEST_CASE(infinities_of_constants_may_be_used) {
  const Output lowest = g.constant(number(-INFINITY));
  const Output masked = where(g, less(g, x, g.constant(number(0))), lowest, x);
  const Output chance = exp(g, masked);
  Session session = open();
  BOOST_TEST(result(session, -1, chance) == 0);
  BOOST_TEST(result(session, 1, chance) == std::exp(1.0f));
}

BOOST_AUTO_TEST_CASE(gradients_and_the_insides_of_loops_are_checked) {
  const Output root = sqrt(g.with_name("square_root"), x);
  const Output gradient = dense(g, gradients(g, {root}, {x})[0], x);
  const auto results = while_loop(
      g, {x},
      [](const Scope& s, std::span<const Output> state) { return less(s, state[0], s.constant(number(1))); },
      [](const Scope& s, std::span<const Output> state) {
        return std::vector{neg(s, log(s.with_name("inside"), state[0]))};
      });
  Session session = open();
  BOOST_TEST(result(session, 4, gradient) == 0.25f);
  BOOST_TEST(failure(session, 0, gradient).node() == "gradients/square_root/SqrtGrad");
  BOOST_TEST(result(session, 0.1f, results.at(0)) > 1);
  BOOST_TEST(failure(session, 0, results.at(0)).node().find("inside") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(variables_that_a_node_reads_are_named_and_keep_their_values_when_their_update_fails) {
  const Output weight = variable(g, g.constant(number(2)), "weight");
  const Output quotient = div(g.with_name("quotient"), weight, x);
  const Output update = assign_add(g, weight, quotient);
  Session session = open();
  session.run({initializer(g)});
  const Status status = failure(session, 0, update);
  BOOST_TEST(status.node() == "quotient");
  BOOST_TEST(status.text().ends_with("; it reads weight"));
  BOOST_TEST(session.run({weight}).at(0).as<float>()[0] == 2);
}

BOOST_AUTO_TEST_CASE(sessions_do_not_check_unless_asked) {
  const Output ratio = div(g, x, x);
  Session session = runtime.session(graph);
  BOOST_TEST(std::isnan(result(session, 0, ratio)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::check_finite_test
