// Tests of conditionals and loops: built, partitioned over one device or several, and run with real kernels.
#include "graph/build/control_flow.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/ops/op_library.h"
#include "tests/support/partitioned_runtime.h"

namespace troupe::control_flow_test {
namespace {

using namespace test;

struct Fixture {
  std::shared_ptr<const OpLibrary> library = op_library();
  Graph graph{library->ops};
  Scope g{graph};

  Output number(float value, const Scope& s) { return s.constant(Tensor::scalar(value)); }
  Output number(float value) { return number(value, g); }
  Output input(const std::string& name) {
    return g.with_name(name).add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  }
  /// Returns the results, after a check that they are equal on one device and on three, in any order of execution.
  std::vector<float> run(const std::vector<Output>& fetches, const Feeds& feeds = {}) {
    const auto whole = value_or_throw(run_graph(library, graph, feeds, fetches));
    for (uint64_t seed = 0; seed < 3; ++seed) {
      PartitionedRuntime runtime(library, 3, seed);
      const auto cut = value_or_throw(runtime.run(graph, feeds, fetches));
      partitions = runtime.partitions();
      for (size_t i = 0; i < whole.size(); ++i) BOOST_TEST(identical(whole[i], cut[i]));
    }
    std::vector<float> values;
    for (const Tensor& tensor : whole) values.push_back(tensor.as<float>()[0]);
    return values;
  }
  size_t partitions = 0;
};

Scope on(const Scope& scope, int task) { return scope.with_device("/job:test/task:" + std::to_string(task)); }

using Values = std::vector<float>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(control_flow, Fixture)

// x < 2 ? x * 10 : x - 100
BOOST_AUTO_TEST_CASE(one_branch_runs) {
  const Output x = input("x");
  const auto y = cond(
      g, g.add_one("Less", {x, number(2)}),
      [&](const Scope& s) {
        return std::vector{on(s, 1).add_one("Mul", {x, number(10, s)})};
      },
      [&](const Scope& s) {
        return std::vector{on(s, 2).add_one("Sub", {x, number(100, s)})};
      });
  BOOST_TEST(run(y, {{x, Tensor::scalar(1.0f)}}) == Values{10}, boost::test_tools::per_element());
  BOOST_TEST(run(y, {{x, Tensor::scalar(3.0f)}}) == Values{-97}, boost::test_tools::per_element());
  BOOST_TEST(partitions == 3);
}

// The factorial of n: a loop with two variables, whose product is computed on another device.
BOOST_AUTO_TEST_CASE(a_product_made_on_another_device) {
  const Output n = input("n");
  const auto results = while_loop(
      g, {number(1), number(1)},
      [&](const Scope& s, auto v) {
        return s.add_one("LessEqual", {v[0], n});
      },
      [&](const Scope& s, auto v) {
        return std::vector{s.add_one("Add", {v[0], number(1, s)}), on(s, 1).add_one("Mul", {v[1], v[0]})};
      });
  for (const auto& [of, is] : std::vector<std::pair<float, float>>{{0, 1}, {1, 1}, {5, 120}, {10, 3628800}})
    BOOST_TEST(run({results[1]}, {{n, Tensor::scalar(of)}}) == Values{is}, boost::test_tools::per_element());
  BOOST_TEST(partitions == 2);
}

// The sum over i < n of the sum over j < i of (j odd ? j : -j), loops and branches on three devices.
BOOST_AUTO_TEST_CASE(nested_loops_and_branches_over_three_devices) {
  const Output n = input("n"), zero = number(0);
  const auto outer = while_loop(
      g, {zero, zero},
      [&](const Scope& s, auto v) {
        return on(s, 2).add_one("Less", {v[0], n});
      },
      [&](const Scope& s, auto v) {
        const Output i = v[0];
        const auto inner = while_loop(
            s, {number(0, s), v[1]},
            [&](const Scope& t, auto w) {
              return t.add_one("Less", {w[0], i});
            },
            [&](const Scope& t, auto w) {
              const Output half = t.add_one("Floor", {t.add_one("Mul", {w[0], number(0.5f, t)})});
              const Output even = on(t, 1).add_one("Equal", {t.add_one("Mul", {half, number(2, t)}), w[0]});
              const auto term = cond(
                  t, even, [&](const Scope& u) { return std::vector{on(u, 1).add_one("Neg", {w[0]})}; },
                  [&](const Scope&) { return std::vector{w[0]}; });
              return std::vector{t.add_one("Add", {w[0], number(1, t)}),
                                 on(t, 2).add_one("Add", {w[1], term[0]})};
            },
            {3, "inner", {}});
        return std::vector{s.add_one("Add", {i, number(1, s)}), inner[1]};
      },
      {2, "outer", {}});
  float expected = 0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < i; ++j) expected += static_cast<float>(j % 2 == 1 ? j : -j);
  BOOST_TEST(run({outer[1]}, {{n, Tensor::scalar(7.0f)}}) == Values{expected},
             boost::test_tools::per_element());
  BOOST_TEST(partitions == 3);
}

// A matrix that grows by one row in each iteration: its shape differs from the initial one.
BOOST_AUTO_TEST_CASE(a_variable_may_change_its_shape) {
  const Output row = g.constant(Tensor::of<float>(Shape{1, 2}, {1, 2}));
  const auto grown = while_loop(
      g, {number(0), row},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], number(4, s)});
      },
      [&](const Scope& s, auto v) {
        const Output axis = s.constant(Tensor::scalar<int32_t>(0));
        return std::vector{s.add_one("Add", {v[0], number(1, s)}), s.add_one("ConcatV2", {v[1], row, axis})};
      },
      {10, "while", {PartialShape::scalar(), PartialShape{-1, 2}}});
  BOOST_TEST(graph.shape(grown[1]).text() == "[?,2]");
  const auto result = value_or_throw(run_graph(library, graph, {}, {grown[1]}));
  BOOST_TEST(result[0].shape().text() == "[5,2]");
}

// for i in 0..4: v += i, where v lives on another device and is read after the last addition.
BOOST_AUTO_TEST_CASE(a_loop_that_writes_a_variable) {
  const Scope home = on(g, 1);
  const Output v =
      home.with_name("v").add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  const Output assign = home.add_one("Assign", {v, number(100)});
  const auto loop = while_loop(
      g.with_control({assign}), {number(0)},
      [&](const Scope& s, auto w) {
        return s.add_one("Less", {w[0], number(5, s)});
      },
      [&](const Scope& s, auto w) {
        const Output add = s.add_one("AssignAdd", {v, w[0]});
        return std::vector{s.with_control({add}).add_one("Add", {w[0], number(1, s)})};
      },
      {1, "while", {}});
  const Output after = on(g, 2).with_control({loop[0]}).add_one("Add", {v, number(0)});
  BOOST_TEST(run({loop[0], after}) == (Values{5, 110}), boost::test_tools::per_element());
  BOOST_TEST(partitions == 3);
}

// A failure on one device ends the step on all devices, and names its place.
BOOST_AUTO_TEST_CASE(a_failure_inside_a_partitioned_loop) {
  const Output table = g.constant(Tensor::vector<float>({1, 2, 3}));
  const auto loop = while_loop(
      g, {g.constant(Tensor::scalar<int32_t>(0)), number(0)},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], s.constant(Tensor::scalar<int32_t>(9))});
      },
      [&](const Scope& s, auto v) {
        const Output element = on(s, 1).with_name("pick").add_one("Gather", {table, v[0]});
        return std::vector{s.add_one("Add", {v[0], s.constant(Tensor::scalar<int32_t>(1))}),
                           s.add_one("Add", {v[1], element})};
      });
  PartitionedRuntime runtime(library, 2);
  const Status status = runtime.run(graph, {}, {loop[1]}).status();
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.op() == "Gather");
  BOOST_TEST(status.node().find("pick") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::control_flow_test
