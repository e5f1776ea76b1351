// Tests what SymbolicShapes and Liveness know of loops and branches, and that gradients of loops over batches of unknown size are
// simplified and fused with it.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "graph/build/control_flow.h"
#include "graph/build/functional.h"
#include "graph/build/gradients.h"
#include "graph/passes/fuse/fuse.h"
#include "graph/passes/liveness.h"
#include "graph/passes/simplify/symbolic_shapes.h"
#include "kernels/constructors.h"
#include "tests/kernels/subgraph_runner.h"
#include "tests/support/ops/run_op.h"

namespace troupe::loop_shapes_test {
namespace {

using namespace test;

struct Fixture : SubgraphRunner {
  Graph graph{library->ops};
  const Scope g{graph};
  const Output x = placeholder(g, f32, {unknown_dim, 3}), y = placeholder(g, f32, {unknown_dim, 3}),
               n = placeholder(g, i32, PartialShape::scalar());

  static Output integer(const Scope& s, int32_t value) { return s.constant(Tensor::scalar(value)); }
  Output first_count() const { return integer(g, 0); }
  Output less_than_n(const Scope& s, Outputs v) const { return less(s, v[0], n); }
  static Output next_count(const Scope& s, Outputs v) { return add(s, v[0], integer(s, 1)); }

  SymbolicShapes shapes() const {
    Graph copy = graph;
    const GraphDraft draft{std::move(copy).release()};
    return SymbolicShapes(draft, value_or_throw(topological_order(draft.nodes)));
  }
  Liveness liveness() const { return Liveness(graph.nodes(), value_or_throw(topological_order(graph))); }

  /// Repeats the body `n` times, and returns the last values behind the counter.
  std::vector<Output> repeat(std::vector<Output> first, const LoopBody& body,
                             std::vector<PartialShape> invariants = {}) {
    first.insert(first.begin(), first_count());
    const auto results = while_loop(
        g, first, [&](const Scope& s, Outputs v) { return less_than_n(s, v); },
        [&](const Scope& s, Outputs v) {
          auto next = body(s, v.subspan(1));
          next.insert(next.begin(), next_count(s, v));
          return next;
        },
        {.shape_invariants = std::move(invariants)});
    return {results.begin() + 1, results.end()};
  }
};

size_t count(const Graph& graph, std::string_view op) {
  size_t found = 0;
  for (const Node& node : graph.nodes()) found += node.type() == op;
  return found;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(loop_shapes, Fixture)

BOOST_AUTO_TEST_CASE(a_loop_variable_keeps_its_shape) {
  Output inside;
  const auto last = repeat({x}, [&](const Scope& s, Outputs v) {
    inside = tanh(s, v[0]);
    return std::vector{inside};
  });
  BOOST_TEST(shapes().same(x, last[0]));
  BOOST_TEST(shapes().same(x, inside));
  BOOST_TEST(!shapes().same(y, last[0]));
}

BOOST_AUTO_TEST_CASE(a_variable_that_grows_has_a_shape_of_its_own) {
  Output inside;
  const auto last =
      repeat({x, x},
             [&](const Scope& s, Outputs v) {
               inside = concat(s, {v[0], v[1]}, 0);
               return std::vector{inside, v[1]};
             },
             {PartialShape::scalar(), PartialShape{unknown_dim, 3}, PartialShape{unknown_dim, 3}});
  BOOST_TEST(!shapes().same(x, last[0]));
  BOOST_TEST(!shapes().same(last[0], inside));
  BOOST_TEST(shapes().same(x, last[1]));
}

BOOST_AUTO_TEST_CASE(variables_that_change_places_have_shapes_of_their_own) {
  const auto last = repeat({x, y}, [&](const Scope& s, Outputs v) {
    return std::vector{tanh(s, v[1]), tanh(s, v[0])};
  });
  BOOST_TEST(!shapes().same(x, last[0]));
  BOOST_TEST(!shapes().same(last[0], last[1]));
}

/// The second loop gets from a list what the first one put there.
BOOST_AUTO_TEST_CASE(the_elements_of_a_list_have_one_shape) {
  const Output empty =
      g.add_one("EmptyTensorList", {integer(g, -1), integer(g, -1)}, {{"element_dtype", f32}});
  const auto filled = repeat({x, empty}, [&](const Scope& s, Outputs v) {
    return std::vector{v[0], s.add_one("TensorListPushBack", {v[1], sigmoid(s, v[0])})};
  });
  Output element;
  repeat({filled[1]}, [&](const Scope& s, Outputs v) {
    const NodeId popped = s.add("TensorListPopBack", {v[0], integer(s, -1)}, {{"element_dtype", f32}});
    element = {popped, 1};
    return std::vector{Output{popped, 0}};
  });
  BOOST_TEST(shapes().same(x, element));
}

BOOST_AUTO_TEST_CASE(the_elements_of_a_list_may_differ) {
  const Output empty =
      g.add_one("EmptyTensorList", {integer(g, -1), integer(g, -1)}, {{"element_dtype", f32}});
  Output pushed;
  const auto filled = repeat({x, empty},
                             [&](const Scope& s, Outputs v) {
                               pushed = concat(s, {v[0], x}, 0);
                               return std::vector{pushed, s.add_one("TensorListPushBack", {v[1], pushed})};
                             },
                             {PartialShape::scalar(), PartialShape{unknown_dim, 3}, PartialShape::scalar()});
  const NodeId last = g.add("TensorListPopBack", {filled[1], integer(g, -1)}, {{"element_dtype", f32}});
  BOOST_TEST(!shapes().same({last, 1}, pushed));
  BOOST_TEST(!shapes().same({last, 1}, filled[0]));
}

BOOST_AUTO_TEST_CASE(parts_have_the_shape_of_each_other) {
  const auto parts = split(g, x, 3, 1);
  BOOST_TEST(shapes().same(parts[0], parts[2]));
  const auto pieces = split(g, y, 2, 0);
  BOOST_TEST(!shapes().same(pieces[0], y));
  const Output rows = slice(g, shape(g, x), {0}, {1});
  const Output filled = g.add_one("Fill", {concat(g, {rows, g.constant(Tensor::vector<int32_t>({3}))}, 0),
                                           g.constant(Tensor::scalar(1.0f))});
  BOOST_TEST(shapes().same(x, filled));
}

BOOST_AUTO_TEST_CASE(each_read_of_a_variable_has_a_shape_of_its_own) {
  const Output variable =
      g.add_one("VarHandleOp", {}, {{"dtype", f32}, {"shape", PartialShape{unknown_dim, 3}}});
  const auto read = [&] { return g.add_one("ReadVariableOp", {variable}, {{"dtype", f32}}); };
  const Output before = read(), after = read(), computed = tanh(g, before);
  BOOST_TEST(shapes().same(before, computed));
  BOOST_TEST(!shapes().same(before, after));
}

// The op repeats a single row of logits or of labels.
BOOST_AUTO_TEST_CASE(the_gradient_of_a_cross_entropy_has_the_rows_of_both_inputs) {
  const auto gradient = [&](Output logits, Output labels) {
    return g.outputs(g.add_one("SoftmaxCrossEntropyWithLogits", {logits, labels}))[1];
  };
  const Output of_same = gradient(x, sigmoid(g, x)), of_others = gradient(x, y);
  BOOST_TEST(shapes().same(x, of_same));
  BOOST_TEST(!shapes().same(x, of_others));
}

BOOST_AUTO_TEST_CASE(both_branches_give_one_shape) {
  const Output positive = less(g, integer(g, 0), n);
  const auto branch = [&](Output of) { return [of](const Scope& s) { return std::vector{tanh(s, of)}; }; };
  const Output alike = cond(g, positive, branch(x), branch(x))[0],
               unlike = cond(g, positive, branch(x), branch(y))[0];
  BOOST_TEST(shapes().same(x, alike));
  BOOST_TEST(!shapes().same(x, unlike));
}

BOOST_AUTO_TEST_CASE(what_is_alive_with_what) {
  const Output positive = less(g, integer(g, 0), n);
  Output taken, also_taken, other;
  const Output either = cond(
      g, positive,
      [&](const Scope& s) {
        taken = tanh(s, x);
        also_taken = sigmoid(s, y);
        return std::vector{taken, also_taken};
      },
      [&](const Scope& s) {
        other = tanh(s, y);
        return std::vector{other, other};
      })[0];
  Output in_loop, nested;
  const auto last = repeat({x}, [&](const Scope& s, Outputs v) {
    in_loop = tanh(s, v[0]);
    return std::vector{cond(
        s, less(s, sum(s, in_loop), 0.0f),
        [&](const Scope& inner) {
          nested = neg(inner, in_loop);
          return std::vector{nested};
        },
        [&](const Scope&) { return std::vector{in_loop}; })[0]};
  });
  const Liveness alive = liveness();
  BOOST_TEST(alive.implies(taken, also_taken));
  BOOST_TEST(alive.implies(taken, x));
  BOOST_TEST(alive.implies(x, either));
  BOOST_TEST(alive.implies(x, last[0]));
  BOOST_TEST(alive.implies(nested, in_loop));
  BOOST_TEST(!alive.implies(x, taken));
  BOOST_TEST(!alive.implies(taken, other));
  BOOST_TEST(!alive.implies(in_loop, nested));
  BOOST_TEST(!alive.implies(x, in_loop));
}

BOOST_AUTO_TEST_CASE(a_recurrent_layer_is_simplified_and_fused) {
  const Output steps = placeholder(g, f32, {4, unknown_dim, 3}), w = placeholder(g, f32, {3, 3});
  const Output rows = slice(g, shape(g, steps), {1}, {1}), columns = g.constant(Tensor::vector<int32_t>({3}));
  const Output first = g.add_one("Fill", {concat(g, {rows, columns}, 0), g.constant(Tensor::scalar(0.0f))});
  const Output hidden = scan(g, {steps}, {first}, [&](const Scope& s, Outputs state, Outputs slices) {
    const Output sums = add(s, slices[0], matmul(s, state[0], w));
    return std::vector{mul(s, sigmoid(s, sums), tanh(s, add(s, sums, state[0])))};
  })[0];
  const Output loss = sum(g, square(g, hidden));
  const Output gradient = dense(g, gradients(g, {loss}, {w})[0], w);
  Subgraph subgraph = value_or_throw(cut_subgraph(graph, {{steps, w}, {gradient}, {}}));
  const auto numbers = [](const Shape& shape) {
    std::vector<float> values;
    for (int64_t i = 0; i < shape.elements(); ++i) values.push_back(std::sin(static_cast<float>(i)));
    return Tensor::of<float>(shape, values);
  };
  const std::vector<Tensor> feeds{numbers(Shape{4, 2, 3}), numbers(Shape{3, 3})};
  const auto before = run(subgraph, feeds);
  simplify(subgraph);
  BOOST_TEST(count(subgraph.graph, "BroadcastGradientArgs") == 0);
  BOOST_TEST(count(subgraph.graph, "Reshape") == 0);
  std::vector<DeviceId> devices(subgraph.graph.size(), 0);
  BOOST_TEST(value_or_throw(fuse(subgraph.graph, devices, [](const Node&, DeviceId) { return true; })) >= 5);
  const auto after = run(subgraph, feeds);
  const auto a = before[0].as<float>(), b = after[0].as<float>();
  for (size_t i = 0; i < a.size(); ++i) BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-5f * std::abs(a[i]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::loop_shapes_test
