// Tests that tensors are brought into the order of loops outside of them, and that results stay.
#include "graph/passes/simplify/loop_layouts.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "graph/build/control_flow.h"
#include "graph/build/functional.h"
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/kernels/subgraph_runner.h"
#include "tests/support/ops/run_op.h"

namespace troupe::loop_layouts_test {
namespace {

using namespace test;

struct Fixture : SubgraphRunner {
  Graph graph{library->ops};
  const Scope g{graph};
  const Output x = placeholder(g, f32, {unknown_dim, 2, 3}), w = placeholder(g, f32, {3, 3});
  const std::vector<Tensor> feeds{numbers(Shape{4, 2, 3}), numbers(Shape{3, 3})};

  static Tensor numbers(const Shape& shape) {
    std::vector<float> values;
    for (int64_t i = 0; i < shape.elements(); ++i) values.push_back(std::sin(static_cast<float>(i)) / 2);
    return Tensor::of<float>(shape, values);
  }

  Subgraph subgraph_of(Output fetch) { return value_or_throw(cut_subgraph(graph, {{x, w}, {fetch}, {}})); }
  /// Checks that the results stay, except for their last bits. Returns the graph afterwards.
  Graph laid_out(Output fetch, size_t replaced) {
    Subgraph subgraph = subgraph_of(fetch);
    const auto before = run(subgraph, feeds);
    simplify(subgraph);
    BOOST_TEST(value_or_throw(lay_out_loops(subgraph)) == replaced);
    simplify(subgraph);
    const auto after = run(subgraph, feeds);
    const auto a = before[0].as<float>(), b = after[0].as<float>();
    BOOST_REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-6f);
    return std::move(subgraph.graph);
  }

  static size_t count(const Graph& graph, std::string_view op) {
    size_t found = 0;
    for (const Node& node : graph.nodes()) found += node.type() == op;
    return found;
  }

  /// A recurrent layer over the slices of x.
  Output recurrent() {
    const Output first = zeros(g, PartialShape{2, 3}, f32);
    return scan(g, {x}, {first}, [&](const Scope& s, Outputs state, Outputs slices) {
      return std::vector{tanh(s, add(s, slices[0], matmul(s, state[0], w)))};
    })[0];
  }
  Output gradient_by(Output of) {
    return dense(g, gradients(g, {sum(g, square(g, recurrent()))}, {of})[0], of);
  }

  /// Products by w' in a loop.
  Output powers(Output matrix, bool changes_state = false, std::optional<Output> start = {}) {
    const Output counter = g.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
    const auto goes_on = [](const Scope& s, Outputs v) { return less(s, v[0], 3.0f); };
    const auto body = [&](const Scope& s, Outputs v) {
      const Output next =
          changes_state ? s.add_one("Assign", {counter, add(s, v[0], 1.0f)}) : add(s, v[0], 1.0f);
      return std::vector{next, matmul(s, v[1], matrix, false, true)};
    };
    return while_loop(g, {start ? *start : g.constant(Tensor::scalar(0.0f)), reshape(g, x, {-1, 3})}, goes_on,
                      body)[1];
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(loop_layouts, Fixture)

BOOST_AUTO_TEST_CASE(slices_are_taken_from_a_reversed_list) {
  const Graph result = laid_out(recurrent(), 1);
  BOOST_TEST(count(result, "ReverseV2") == 0);
  BOOST_TEST(count(result, "_TensorListReverse") == 1);
}

BOOST_AUTO_TEST_CASE(the_gradients_of_slices_are_a_reversed_list) {
  const Graph result = laid_out(gradient_by(x), 3);  // with the product by w'
  BOOST_TEST(count(result, "ReverseV2") == 0);
  BOOST_TEST(count(result, "_TensorListReverse") == 2);
}

BOOST_AUTO_TEST_CASE(a_tensor_that_others_read_reversed_stays_reversed) {
  const Output backward = reverse(g, x, {0});
  const Output list = g.add_one("TensorListFromTensor", {backward, g.constant(Tensor::scalar(-1))});
  const Output last =
      g.add_one("TensorListGetItem", {list, g.constant(Tensor::scalar(3)), g.constant(Tensor::scalar(-1))},
                {{"element_dtype", f32}});
  laid_out(add(g, last, backward), 0);
}

BOOST_AUTO_TEST_CASE(a_variable_that_is_reversed_is_not_read_again) {
  const Output variable = g.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{4, 2, 3}}});
  const Output backward = reverse(g, g.add_one("Assign", {variable, x}), {0});
  const Output changed = g.with_control({backward}).add_one("Assign", {variable, zeros_like(g, x)});
  const Output list =
      g.with_control({changed}).add_one("TensorListFromTensor", {backward, g.constant(Tensor::scalar(-1))});
  laid_out(
      g.add_one("TensorListGetItem", {list, g.constant(Tensor::scalar(3)), g.constant(Tensor::scalar(-1))},
                {{"element_dtype", f32}}),
      0);
}

BOOST_AUTO_TEST_CASE(other_dimensions_stay_reversed) {
  const Output list = g.add_one("TensorListFromTensor", {reverse(g, x, {1}), g.constant(Tensor::scalar(-1))});
  const Output stacked =
      g.add_one("TensorListStack", {list, g.constant(Tensor::scalar(-1))}, {{"element_dtype", f32}});
  laid_out(reverse(g, stacked, {0, 1}), 0);
}

BOOST_AUTO_TEST_CASE(an_invariant_matrix_is_transposed_before_the_loop) {
  const Graph result = laid_out(powers(w), 1);
  for (const Node& node : result.nodes())
    if (node.type() == "MatMul") BOOST_TEST(!node.attrs.get<bool>("transpose_b"));
  BOOST_TEST(count(result, "Transpose") == 1);
}

BOOST_AUTO_TEST_CASE(a_matrix_of_a_loop_in_a_loop_is_transposed_in_the_outer_one) {
  const auto goes_on = [](const Scope& s, Outputs v) { return less(s, v[0], 2.0f); };
  const auto count = [](const Scope& s, Output value) { return add(s, value, 1.0f); };
  const auto outer = [&](const Scope& s, Outputs v) {
    const auto inner = [&, matrix = tanh(s, v[2])](const Scope& deep, Outputs u) {
      return std::vector{count(deep, u[0]),
                         matmul(deep, matmul(deep, u[1], matrix, false, true), w, false, true)};
    };
    const Output product = while_loop(s, {s.constant(Tensor::scalar(0.0f)), v[1]}, goes_on, inner)[1];
    return std::vector{count(s, v[0]), product, matmul(s, v[2], v[2])};
  };
  laid_out(while_loop(g, {g.constant(Tensor::scalar(0.0f)), reshape(g, x, {-1, 3}), w}, goes_on, outer)[1],
           2);
}

// A loop without iterations computes no product, so the step must not fail before the loop because a tensor is no matrix.
BOOST_AUTO_TEST_CASE(what_may_be_no_matrix_is_not_transposed) {
  const Output matrix = placeholder(g, f32, {});
  const auto loop = while_loop(
      g, {g.constant(Tensor::scalar(0.0f)), reshape(g, x, {-1, 3})},
      [](const Scope& s, Outputs v) { return less(s, v[0], 3.0f); },
      [&](const Scope& s, Outputs v) {
        const Output product = matmul(s, v[1], matrix, false, true);
        return std::vector{add(s, v[0], 1.0f), reshape(s, product, {-1, 3})};
      });
  Subgraph subgraph = value_or_throw(cut_subgraph(graph, {{x, matrix}, {loop[1]}, {}}));
  BOOST_TEST(value_or_throw(lay_out_loops(subgraph)) == 0);
}

BOOST_AUTO_TEST_CASE(a_variable_is_not_transposed_before_a_loop_that_changes_state) {
  const auto variable = [&] {
    return g.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{3, 3}}});
  };
  const auto replaced = [&](Output fetch) {
    Subgraph subgraph = subgraph_of(fetch);
    return value_or_throw(lay_out_loops(subgraph));
  };
  BOOST_TEST(replaced(powers(variable(), false)) == 1);
  BOOST_TEST(replaced(powers(variable(), true)) == 0);
}

BOOST_AUTO_TEST_CASE(a_variable_is_transposed_after_what_the_loop_waits_for) {
  const Output variable = g.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{3, 3}}});
  const Output assigned = g.add_one("Assign", {variable, w});
  const Output start = g.with_control({assigned}).add_one("Identity", {g.constant(Tensor::scalar(0.0f))});
  laid_out(powers(variable, false, start), 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::loop_layouts_test
