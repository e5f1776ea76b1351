// Tests that sums of matrix products become one product, and that no others do.
#include "graph/passes/combine_products.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/kernels/subgraph_runner.h"
#include "tests/support/run_op.h"

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr int64_t units = 64;

struct Fixture : SubgraphRunner {
  Graph graph{library->ops};
  const Scope g{graph};
  const Output x = placeholder(g, f32, {unknown_dim, units}), w = placeholder(g, f32, {units, units});
  const std::vector<Tensor> feeds{numbers(Shape{3, units}), numbers(Shape{units, units})};

  static Tensor numbers(const Shape& shape) {
    const Tensor counted = counting(shape);
    std::vector<float> values;
    for (const float value : counted.as<float>()) values.push_back(std::sin(value) / 8);
    return Tensor::of<float>(shape, values);
  }

  /// Checks that the results stay, except for their last bits, and how many sums are replaced.
  void check(Output fetch, size_t replaced) {
    Subgraph subgraph = value_or_throw(cut_subgraph(graph, {{x, w}, {fetch}, {}}));
    const auto before = run(subgraph, feeds);
    simplify(subgraph);
    BOOST_TEST(value_or_throw(combine_products(subgraph)) == replaced);
    simplify(subgraph);
    size_t products = 0;
    for (const Node& node : subgraph.graph.nodes()) products += node.type() == "MatMul";
    if (replaced == 1) BOOST_TEST(products == 3u * 2u);  // of three steps, with one for all gradients of w
    const auto after = run(subgraph, feeds);
    const auto a = before[0].as<float>(), b = after[0].as<float>();
    for (size_t i = 0; i < a.size(); ++i) BOOST_REQUIRE(std::abs(a[i] - b[i]) <= 1e-5f);
  }

  /// Three steps of a recurrent layer.
  Output recurrent() {
    Output y = x;
    for (int step = 0; step < 3; ++step) y = tanh(g, matmul(g, y, w));
    return y;
  }
  Output gradient(Output of) { return dense(g, gradients(g, {sum(g, square(g, of))}, {w})[0], w); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(combining_products, Fixture)

BOOST_AUTO_TEST_CASE(the_gradient_of_recurrent_weights) { check(gradient(recurrent()), 1); }

BOOST_AUTO_TEST_CASE(products_that_others_use_stay) {
  const Output a = matmul(g, x, x, true), b = matmul(g, x, tanh(g, x), true);
  check(add(g, sum(g, g.add_one("AddN", {a, b})), sum(g, a)), 0);
}

BOOST_AUTO_TEST_CASE(other_sums_stay) {
  const Output plain = g.add_one("AddN", {matmul(g, x, w), matmul(g, tanh(g, x), w)});
  const Output mixed = g.add_one("AddN", {matmul(g, x, x, true), w});
  check(add(g, sum(g, plain), sum(g, mixed)), 0);
}

BOOST_AUTO_TEST_SUITE_END()
