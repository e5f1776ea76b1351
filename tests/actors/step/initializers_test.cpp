// What gives the state of a graph its first values: global and local variables, tables; and the report of what has none yet.
#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "graph/build/variables.h"
#include "tests/support/failure_of.h"

namespace troupe::initializers_test {
namespace {

std::vector<std::string> texts(const Tensor& tensor) {
  const auto strings = tensor.as<std::string>();
  return {strings.begin(), strings.end()};
}

using Names = std::vector<std::string>;

struct Fixture {
  Output number(float value) const { return g.constant(Tensor::scalar(value)); }

  Runtime runtime{{.threads = 1}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
};

BOOST_FIXTURE_TEST_SUITE(initializers, Fixture)

BOOST_AUTO_TEST_CASE(local_variables_get_their_values_on_their_own) {
  const Output w = variable(g, number(1), "w"), count = local_variable(g, number(2), "count");
  BOOST_TEST((variables(graph) == std::vector{w}));
  BOOST_TEST((trainable_variables(graph) == std::vector{w}));
  BOOST_TEST((local_variables(graph) == std::vector{count}));
  const Output lacking = report_uninitialized_variables(g);
  Session session = runtime.session(graph);
  BOOST_TEST((texts(session.run({lacking})[0]) == Names{"w", "count"}));
  session.run({initializer(g)});
  BOOST_TEST((texts(session.run({lacking})[0]) == Names{"count"}));
  BOOST_TEST((test::failure_of([&] { session.run({count}); }).code() == Code::FailedPrecondition));
  session.run({local_initializer(g)});
  BOOST_TEST(texts(session.run({lacking})[0]).empty());
  BOOST_TEST(session.run({count})[0].as<float>()[0] == 2.0f);
}

BOOST_AUTO_TEST_CASE(what_has_no_value_is_reported_for_any_kind_of_variable) {
  const Output resource = g.with_name("r").add_one(
      "VarHandleOp", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  const Output old = g.with_name("v").add_one("VariableV2", {},
                                              {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  const Output assign{g.add("AssignVariableOp", {resource, number(3)}), Output::control};
  const Output all = report_uninitialized_variables(g), one = report_uninitialized_variables(g, {resource}),
               none = report_uninitialized_variables(g, {});
  Session session = runtime.session(graph);
  BOOST_TEST((texts(session.run({all})[0]) == Names{"r", "v"}));
  session.run({assign});
  const auto reports = session.run({all, one, none});
  BOOST_TEST((texts(reports[0]) == Names{"v"}));
  BOOST_TEST(reports[1].shape().elements() == 0);
  BOOST_TEST(reports[2].shape().elements() == 0);
  BOOST_TEST(graph.check(old).ok());
}

BOOST_AUTO_TEST_CASE(all_tables_are_filled_at_once) {
  const Output table =
      g.add_one("HashTableV2", {}, {{"key_dtype", DType::String}, {"value_dtype", DType::Int64}});
  g.add("InitializeTableV2", {table, g.constant(Tensor::vector<std::string>({"a", "b"})),
                              g.constant(Tensor::vector<int64_t>({1, 2}))});
  const Output size = g.add_one("LookupTableSizeV2", {table});
  Session session = runtime.session(graph);
  session.run({tables_initializer(g)});
  BOOST_TEST(session.run({size})[0].as<int64_t>()[0] == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::initializers_test
