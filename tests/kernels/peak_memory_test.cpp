// Tests that the estimated memory of a step is what the step takes, once its shapes are known.
#include "graph/plan/peak_memory.h"

#include <boost/test/unit_test.hpp>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/build/known_shapes.h"
#include "kernels/constructors.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/run_op.h"

namespace troupe::peak_memory_test {
namespace {

using namespace test;

constexpr int64_t batch = 512;

struct Fixture : LocalGraph {
  const Output x = placeholder(g, f32, {-1, 256});

  /// Four layers, and the gradients of the first weights.
  Output gradient_of_network(bool recomputed) {
    std::vector<Output> weights;
    Output y = x;
    for (int layer = 0; layer < 4; ++layer) {
      const Scope scope = recomputed ? g.recomputed("layer" + std::to_string(layer)) : g;
      weights.push_back(g.constant(counting(Shape{256, 256})));
      y = tanh(scope, softplus(scope, tanh(scope, matmul(scope, y, weights.back()))));
    }
    return dense(g, gradients(g, {y}, {weights[0]})[0], weights[0]);
  }

  void check(Output fetch) {
    const Graph sized = value_or_throw(with_known_shapes(graph, {{{x, PartialShape{batch, 256}}}}));
    const auto plan = value_or_throw(runtime.prepare(sized, {{x}, {fetch}, {}}));
    const PeakMemory estimate = value_or_throw(estimate_peak(plan->plan()));
    BOOST_TEST(estimate.unknown == 0u);
    const size_t before = runtime.device().memory_statistics().in_use;
    value_or_throw(runtime.run(plan, {counting(Shape{batch, 256})}));
    const auto actual = static_cast<double>(runtime.device().memory_statistics().peak - before);
    BOOST_TEST(static_cast<double>(estimate.bytes) == actual, boost::test_tools::tolerance(0.1));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(peak_memory, Fixture)

BOOST_AUTO_TEST_CASE(of_a_network_and_its_gradients) { check(gradient_of_network(false)); }
BOOST_AUTO_TEST_CASE(of_a_network_that_computes_again) { check(gradient_of_network(true)); }

BOOST_AUTO_TEST_CASE(unknown_sizes_are_counted) {
  const auto plan = value_or_throw(runtime.prepare(graph, {{x}, {sin(g, x)}, {}}));
  BOOST_TEST(value_or_throw(estimate_peak(plan->plan())).unknown == 1u);
}

BOOST_AUTO_TEST_CASE(branches_are_refused) {
  const Output y = cond(
      g, placeholder(g, DType::Bool, PartialShape::scalar(), "p"),
      [&](const Scope& inner) { return std::vector{sin(inner, x)}; },
      [&](const Scope& inner) { return std::vector{cos(inner, x)}; })[0];
  const auto plan = value_or_throw(runtime.prepare(graph, {{x, {graph.find("p")->id, 0}}, {y}, {}}));
  BOOST_TEST((estimate_peak(plan->plan()).status().code() == Code::Unimplemented));
}

BOOST_AUTO_TEST_CASE(known_shapes_spread_and_must_fit) {
  const Output y = matmul(g, x, g.constant(counting(Shape{256, 3})));
  const Graph sized = value_or_throw(with_known_shapes(graph, {{{x, PartialShape{7, 256}}}}));
  BOOST_TEST((sized.shape(y) == PartialShape{7, 3}));
  const Status status = with_known_shapes(graph, {{{x, PartialShape{7, 255}}}}).status();
  BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::peak_memory_test
