// Temporary variables in steps (features.md C11; the ops TemporaryVariable and DestroyTemporaryVariable).
#include <boost/test/unit_test.hpp>

#include <future>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/control_flow.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::temporary_variables_test {
namespace {

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 1}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  const Scope ps = g.with_device("/job:ps/task:0");
  const Output x = g.with_name("x").add_one("Placeholder", {},
                                            {{"dtype", DType::Double}, {"shape", PartialShape::scalar()}});

  static Output temporary(const Scope& s, const std::string& variable) {
    return s.add_one("TemporaryVariable", {},
                     {{"dtype", DType::Double}, {"shape", PartialShape::scalar()}, {"var_name", variable}});
  }
  static Output destroy(const Scope& s, Output variable, const std::string& name) {
    return s.add_one("DestroyTemporaryVariable", {variable}, {{"var_name", name}});
  }
  static Output assign(const Scope& s, Output variable, Output value) {
    return s.add_one("Assign", {variable, value});
  }
  static Output add(const Scope& s, Output variable, Output value) {
    return s.add_one("AssignAdd", {variable, value});
  }
  double value(Session& session, Output what, double fed = 1) const {
    return session.run({{x, Tensor::scalar(fed)}}, {what}).at(0).item<double>();
  }
  Code code(Session& session, const std::vector<Output>& what) const {
    return test::failure_of([&] { session.run({{x, Tensor::scalar(1.0)}}, what); }).code();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(temporary_variables, Fixture)

BOOST_AUTO_TEST_CASE(a_variable_begins_anew_in_each_step) {
  const Output sum = add(g, temporary(ps, "v"), x), final = destroy(g, add(g, sum, x), "v");
  Session session = runtime.session(graph);
  for (int step = 1; step < 5; ++step) BOOST_TEST(value(session, final, step) == 2 * step);
}

BOOST_AUTO_TEST_CASE(a_variable_that_is_not_destroyed_ends_with_its_step) {
  const Output variable = temporary(ps, "v"), read = g.add_one("Identity", {variable});
  const Output filled = g.with_device("/job:worker/task:0").add_one("Neg", {assign(g, variable, x)});
  const Output fails = g.with_control({filled}).add_one(
      "CheckNumerics", {g.add_one("Log", {g.add_one("Neg", {x})})}, {{"message", std::string("m")}});
  Session session = runtime.session(graph);
  for (int step = 0; step < 3; ++step) {
    BOOST_TEST(value(session, read) == 0);
    BOOST_TEST(value(session, filled, 3) == -3);
    BOOST_TEST((code(session, {fails}) == Code::InvalidArgument));
  }
}

BOOST_AUTO_TEST_CASE(steps_at_the_same_time_have_variables_of_their_own) {
  const Output final = destroy(g, add(g, add(g, temporary(ps, "v"), x), x), "v");
  Session session = runtime.session(graph);
  const auto many = [&](double fed) {
    std::vector<double> all;
    for (int step = 0; step < 50; ++step) all.push_back(value(session, final, fed));
    return all;
  };
  auto other = std::async(std::launch::async, [&] { return many(7); });
  BOOST_TEST(many(3) == std::vector<double>(50, 6));
  BOOST_TEST(other.get() == std::vector<double>(50, 14));
}

BOOST_AUTO_TEST_CASE(a_name_belongs_to_one_variable_at_a_time) {
  const Output first = temporary(ps, "v"), final = destroy(g, add(g, first, x), "v");
  const Output second = temporary(ps.with_control({first}), "v");
  const Output later = destroy(g, add(g, temporary(ps.with_control({final}), "v"), x), "v");
  const Output unnamed = temporary(ps.with_name("unnamed"), ""), by_node = destroy(g, unnamed, "unnamed");
  Session session = runtime.session(graph);
  BOOST_TEST((code(session, {add(g, first, x), add(g, second, x)}) == Code::AlreadyExists));
  BOOST_TEST(value(session, later, 5) == 5);
  BOOST_TEST(value(session, by_node) == 0);
  BOOST_TEST((code(session, {destroy(g, first, "w")}) == Code::NotFound));
  BOOST_TEST((code(session, {destroy(g.with_control({final}), first, "v")}) == Code::FailedPrecondition));
  BOOST_TEST((code(session, {destroy(g, first, "")}) == Code::InvalidArgument));
}

// A variable that is not temporary keeps its value when a temporary one is destroyed through it.
BOOST_AUTO_TEST_CASE(only_the_variable_of_the_name_is_destroyed) {
  const Output kept = ps.with_name("kept").add_one(
      "VariableV2", {}, {{"dtype", DType::Double}, {"shape", PartialShape::scalar()}});
  const Output filled = assign(g, kept, x), temporary_one = temporary(ps.with_control({filled}), "v");
  const Output final = destroy(g.with_control({temporary_one}), filled, "v");
  Session session = runtime.session(graph);
  BOOST_TEST(value(session, final, 4) == 4);
  BOOST_TEST(value(session, g.add_one("Identity", {kept})) == 4);
}

BOOST_AUTO_TEST_CASE(each_iteration_of_a_loop_may_have_its_own) {
  const auto number = [](const Scope& s, double of) { return s.constant(Tensor::scalar(of)); };
  const auto results = while_loop(
      g, {number(g, 0), x},
      [&](const Scope& s, std::span<const Output> in) {
        return s.add_one("Less", {in[0], number(s, 100)});
      },
      [&](const Scope& s, std::span<const Output> in) {
        const Output variable = temporary(s.with_control({in[0]}), "v");
        const Output sum = destroy(s, add(s, assign(s, variable, in[1]), number(s, 1)), "v");
        return std::vector{s.add_one("Add", {in[0], number(s, 1)}), sum};
      },
      WhileOptions{.parallel_iterations = 1, .name = "loop", .shape_invariants = {}});
  Session session = runtime.session(graph);
  BOOST_TEST(value(session, results[1], 5) == 105);
}

BOOST_AUTO_TEST_CASE(a_variable_whose_shape_is_unknown_is_refused) {
  const Output variable =
      ps.add_one("TemporaryVariable", {}, {{"dtype", DType::Double}, {"shape", PartialShape{unknown_dim}}});
  Session session = runtime.session(graph);
  BOOST_TEST((code(session, {g.add_one("Identity", {variable})}) == Code::InvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::temporary_variables_test
