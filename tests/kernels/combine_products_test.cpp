// Tests that sums of matrix products become one product, and that no others do.
#include "graph/passes/simplify/combine_products.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/kernels/subgraph_runner.h"
#include "tests/support/ops/run_op.h"

namespace troupe::combine_products_test {
namespace {

using namespace test;

constexpr int64_t units = 64;

struct Fixture : SubgraphRunner {
  Graph graph{library->ops};
  const Scope g{graph};
  const Output x = placeholder(g, f32, {3, units}), w = placeholder(g, f32, {units, units});
  const std::vector<Tensor> feeds{numbers(Shape{3, units}), numbers(Shape{units, units})};

  static Tensor numbers(const Shape& shape) {
    const Tensor counted = counting(shape);
    std::vector<float> values;
    for (const float value : counted.as<float>()) values.push_back(std::sin(value) / 8);
    return Tensor::of<float>(shape, values);
  }

  /// Checks that the results stay, except for their last bits, how many sums are replaced, and how many products there are then.
  void check(Output fetch, size_t replaced, size_t products) { check(fetch, replaced, products, x, feeds); }
  void check(Output fetch, size_t replaced, size_t products, Output fed, const std::vector<Tensor>& values) {
    Subgraph subgraph = value_or_throw(cut_subgraph(graph, {{fed, w}, {fetch}, {}}));
    const auto before = run(subgraph, values);
    simplify(subgraph);
    BOOST_TEST(value_or_throw(combine_products(subgraph)) == replaced);
    simplify(subgraph);
    size_t found = 0;
    for (const Node& node : subgraph.graph.nodes()) found += node.type() == "MatMul";
    BOOST_TEST(found == products);
    const auto after = run(subgraph, values);
    const auto a = before[0].as<float>(), b = after[0].as<float>();
    for (size_t i = 0; i < a.size(); ++i) BOOST_REQUIRE(std::abs(a[i] - b[i]) <= 1e-5f);
  }

  /// Three steps of a recurrent layer.
  Output recurrent() { return recurrent(x); }
  Output recurrent(Output first) {
    Output y = first;
    for (int step = 0; step < 3; ++step) y = tanh(g, matmul(g, y, w));
    return y;
  }
  Output gradient(Output of) { return dense(g, gradients(g, {sum(g, square(g, of))}, {w})[0], w); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(combining_products, Fixture)

// Of three steps, with one product for all gradients of w.
BOOST_AUTO_TEST_CASE(the_gradient_of_recurrent_weights) { check(gradient(recurrent()), 1, 3 * 2); }

// Of a batch that is larger than the weights, the matrices would take more memory than the products.
BOOST_AUTO_TEST_CASE(products_of_large_matrices_stay) {
  const Output many = placeholder(g, f32, {units, units}), some = placeholder(g, f32, {unknown_dim, units});
  check(gradient(recurrent(many)), 0, 3 * 3 - 1, many, {feeds[1], feeds[1]});
  check(gradient(recurrent(some)), 0, 3 * 3 - 1, some, feeds);
}

BOOST_AUTO_TEST_CASE(products_of_recomputed_matrices_stay) {
  Output y = x;
  for (int step = 0; step < 3; ++step) {
    const Scope segment = g.recomputed("step" + std::to_string(step));
    y = tanh(segment, matmul(segment, tanh(segment, y), w));
  }
  check(gradient(y), 0, 3 * 3 - 1);
}

BOOST_AUTO_TEST_CASE(a_sum_in_a_loop) {
  const auto loop = while_loop(
      g, {g.constant(Tensor::scalar(0.0f)), x},
      [](const Scope& s, std::span<const Output> v) { return less(s, v[0], 3.0f); },
      [](const Scope& s, std::span<const Output> v) {
        const Output y = tanh(s, v[1]);
        const Output sum = s.add_one("AddN", {matmul(s, v[1], y, true), matmul(s, y, y, true)});
        const Output change = tanh(s, matmul(s, v[1], sum));
        return std::vector{add(s, v[0], 1.0f), add(s, v[1], mul(s, change, 0.1f))};
      });
  check(loop[1], 1, 2);
}

BOOST_AUTO_TEST_CASE(products_that_others_use_stay) {
  const Output a = matmul(g, x, x, true), b = matmul(g, x, tanh(g, x), true);
  check(add(g, sum(g, g.add_one("AddN", {a, b})), sum(g, a)), 0, 2);
}

BOOST_AUTO_TEST_CASE(other_sums_stay) {
  const Output plain = g.add_one("AddN", {matmul(g, x, w), matmul(g, tanh(g, x), w)});
  const Output mixed = g.add_one("AddN", {matmul(g, x, x, true), w});
  check(add(g, sum(g, plain), sum(g, mixed)), 0, 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::combine_products_test
