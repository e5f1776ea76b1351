// Tests that random graphs give the same bits with and without simplification, and when they are fused after it; real kernels
// compute what is folded and what is run.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <random>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/passes/fuse/fuse.h"
#include "kernels/constructors.h"
#include "tests/kernels/subgraph_runner.h"
#include "tests/support/ops/run_op.h"

namespace troupe::simplify_run_test {
namespace {

using namespace test;

struct Fixture : SubgraphRunner {
  size_t fused = 0;  ///< how many nodes disappeared

  /// Simplifies the graph and compares the results; returns how many nodes were removed.
  size_t check(const Graph& graph, const RunSignature& signature, std::span<const Tensor> feeds) {
    Subgraph subgraph = value_or_throw(cut_subgraph(graph, signature));
    const auto before = run(subgraph, feeds);
    const SimplifyReport report = simplify(subgraph);
    check_same(before, run(subgraph, feeds));
    std::vector<DeviceId> device(subgraph.graph.size(), 0);
    const auto can_run = [&](const Node& node, DeviceId) { return library->kernels.has(node, "CPU"); };
    fused += value_or_throw(fuse(subgraph.graph, device, can_run));
    check_same(before, run(subgraph, feeds));
    return report.removed;
  }
  static void check_same(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
    BOOST_REQUIRE_EQUAL(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i) BOOST_TEST(identical(before[i], after[i]));
  }
};

/// Builds a graph of rows of three floats, with their shapes and casts.
class Generator {
 public:
  Generator(const Scope& scope, uint64_t seed) : g_(scope), random_(seed) {}

  Output feed(const std::string& name) {
    rows_.push_back(
        g_.with_name(name).add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{3}}}));
    return rows_.back();
  }
  Output row() { return rows_[below(rows_.size())]; }

  void grow() {
    const size_t what = below(12);
    if (what == 0)
      rows_.push_back(constant());
    else if (what == 1)
      rows_.push_back(g_.add_one("Identity", {row()}));
    else if (what == 2)
      rows_.push_back(g_.add_one(std::vector{"Neg", "Square", "Relu", "Abs"}[below(4)], {row()}));
    else if (what == 3)
      rows_.push_back(g_.add_one("AddN", {row(), row(), row()}));
    else if (what == 4)
      rows_.push_back(g_.add_one("Reshape", {row(), g_.add_one("Shape", {row()})}));
    else if (what == 5)
      rows_.push_back(g_.add_one("Cast", {g_.add_one("Cast", {row()}, {{"DstT", f64}})}, {{"DstT", f32}}));
    else if (what == 6)
      rows_.push_back(g_.add_one("Cast", {row()}, {{"DstT", f32}}));
    else if (what == 7)
      rows_.push_back(branch());
    else
      rows_.push_back(g_.add_one(std::vector{"Add", "Sub", "Mul", "Maximum"}[what - 8], {row(), row()}));
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  Output constant() {
    const std::vector<float> values{0.0f, -0.0f, 1.0f, 0.5f, -2.0f};
    const float value = values[below(values.size())];
    return g_.constant(Tensor::of<float>(Shape{3}, {value, value, value}));
  }
  Output branch() {
    const Output sum = g_.add_one("Sum", {row(), g_.constant(Tensor::vector<int32_t>({0}))});
    const Output x = row(), y = row();
    const auto side = [&](const char* op) {
      return [&, op](const Scope& s) {
        const Output one = s.constant(Tensor::of<float>(Shape{3}, {1, 1, 1}));
        const Output two = s.add_one("Add", {one, one});
        return std::vector{
            s.add_one("Mul", {s.add_one("Identity", {s.add_one(op, {x, two})}), s.add_one("Mul", {y, one})})};
      };
    };
    return cond(g_, g_.add_one("Less", {sum, g_.constant(Tensor::scalar(1.0f))}), side("Add"),
                side("Sub"))[0];
  }

  Scope g_;
  std::mt19937_64 random_;
  std::vector<Output> rows_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(simplified_runs, Fixture)

BOOST_AUTO_TEST_CASE(random_graphs_keep_their_bits) {
  size_t removed = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Graph graph(library->ops);
      Generator generator(Scope(graph), seed);
      RunSignature signature;
      signature.feeds = {generator.feed("a"), generator.feed("b")};
      for (int i = 0; i < 60; ++i) generator.grow();
      for (int i = 0; i < 5; ++i) {
        const Output fetch = generator.row();
        if (fetch != signature.feeds[0] && fetch != signature.feeds[1]) signature.fetches.push_back(fetch);
      }
      if (signature.fetches.empty()) continue;
      const std::vector<Tensor> feeds{Tensor::of<float>(Shape{3}, {0.1f, -0.0f, 3}),
                                      Tensor::of<float>(Shape{3}, {-INFINITY, 0.7f, 1e-40f})};
      removed += check(graph, signature, feeds);
    }
  }
  BOOST_TEST(removed > 500);
  BOOST_TEST(fused > 500);
}

// Constants in the body of a loop are folded, and are still available in every iteration.
BOOST_AUTO_TEST_CASE(loops_keep_their_bits) {
  Graph graph(library->ops);
  const Scope g(graph);
  const auto number = [](const Scope& s, float value) { return s.constant(Tensor::scalar(value)); };
  const Output x =
      g.with_name("x").add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  const auto loop = while_loop(
      g, {number(g, 0), x},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], s.add_one("Mul", {number(s, 5), number(s, 2)})});
      },
      [&](const Scope& s, auto v) {
        const Output third = s.add_one("Div", {number(s, 1), number(s, 3)});
        const Output grown =
            s.add_one("Mul", {s.add_one("Identity", {v[1]}), s.add_one("Add", {third, number(s, 1)})});
        return std::vector{s.add_one("Add", {v[0], number(s, 1)}), s.add_one("Mul", {grown, number(s, 1)})};
      });
  const std::vector<Tensor> feeds{Tensor::scalar(0.3f)};
  BOOST_TEST(check(graph, {{x}, {loop[0], loop[1]}, {}}, feeds) >= 5);
}

/// The gradients of a sum of products of outputs whose number of rows is unknown. Returns how many nodes of these ops remain after
/// simplification, by op.
std::map<std::string, size_t> ops_of_gradients(Fixture& fixture, bool one_source) {
  Graph graph(fixture.library->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {unknown_dim, 4}), other = placeholder(g, f32, {unknown_dim, 4});
  const Output weights = g.constant(counting(Shape{4, 4}));
  const Output rows = reshape(g, matmul(g, sigmoid(g, x), weights), {-1, 2, 2});
  const Output images = reshape(g, rows, {-1, 4});
  const Output product = mul(g, add(g, images, square(g, x)), one_source ? matmul(g, x, weights) : other);
  const Output gradient = dense(g, gradients(g, {product}, {x})[0], x);
  const RunSignature signature{{x, other}, {gradient, product}, {}};
  const Tensor fed = counting(Shape{3, 4});
  fixture.check(graph, signature, std::vector{fed, fed});
  Subgraph subgraph = value_or_throw(cut_subgraph(graph, signature));
  fixture.simplify(subgraph);
  std::map<std::string, size_t> result;
  for (const Node& node : subgraph.graph.nodes()) ++result[node.type()];
  return result;
}

BOOST_AUTO_TEST_CASE(operands_of_equal_shapes_are_not_summed) {
  auto ops = ops_of_gradients(*this, true);
  BOOST_TEST(ops["BroadcastGradientArgs"] == 0);
  BOOST_TEST(ops["Sum"] == 0);
  ops = ops_of_gradients(*this, false);  // one of them may have a single row
  BOOST_TEST(ops["BroadcastGradientArgs"] == 1);
  BOOST_TEST(ops["Sum"] == 1);
}

BOOST_AUTO_TEST_CASE(reshapes_to_the_same_shape_are_bypassed) {
  Graph graph(library->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {unknown_dim, 6}), y = placeholder(g, f32, {unknown_dim, 6});
  const Output same = reshape(g, x, shape(g, x)), back = reshape(g, reshape(g, x, {-1, 2, 3}), {-1, 6});
  const Output other = reshape(g, x, shape(g, y));  // fails if the shapes differ
  const RunSignature signature{{x, y}, {neg(g, same), neg(g, back), neg(g, other)}, {}};
  const Tensor fed = counting(Shape{2, 6});
  check(graph, signature, std::vector{fed, fed});
  Subgraph subgraph = value_or_throw(cut_subgraph(graph, signature));
  simplify(subgraph);
  const auto reshapes = std::ranges::count_if(subgraph.graph.nodes(),
                                              [](const Node& node) { return node.type() == "Reshape"; });
  BOOST_TEST(reshapes == 3);  // those of `back` and `other`
}

// A reduction of one element may compute another zero than the element itself.
BOOST_AUTO_TEST_CASE(reductions_along_no_axis_keep_their_bits) {
  for (const char* const op : {"Sum", "Mean", "Max", "Min", "Prod"}) {
    Graph graph(library->ops);
    const Scope g(graph);
    const Output x = placeholder(g, f32, {unknown_dim});
    const Output none = g.constant(Tensor::vector<int32_t>({}));
    const Output reduced = g.add_one(op, {x, none});
    const std::vector<Tensor> feeds{Tensor::of<float>(Shape{4}, {-0.0f, 1e-40f, -INFINITY, 3})};
    BOOST_TEST(check(graph, {{x}, {neg(g, reduced)}, {}}, feeds) >= 1, op);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::simplify_run_test
