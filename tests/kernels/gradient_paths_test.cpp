// Tests of the paths that gradients take through a graph: a path that a gradient cannot take is an error, never a zero.
#include <boost/test/unit_test.hpp>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "tests/support/local_graph.h"

namespace troupe::test {
namespace {

struct Fixture : LocalGraph {
  Output w = g.with_name("w").add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});

  /// Runs x = body(x) `times` times in a loop, from x = `first`.
  Output repeated(Output first, int times, const std::function<Output(const Scope&, Output)>& body) {
    return while_loop(
        g, {number<int32_t>(0), first},
        [&](const Scope& s, std::span<const Output> v) {
          return s.add_one("Less", {v[0], s.constant(Tensor::scalar<int32_t>(times))});
        },
        [&](const Scope& s, std::span<const Output> v) {
          return std::vector{s.add_one("Add", {v[0], s.constant(Tensor::scalar<int32_t>(1))}), body(s, v[1])};
        })[1];
  }
  /// Returns why there is no gradient of y with respect to w; empty if there is one.
  std::string refusal(Output y) {
    try {
      gradients(g, {y}, {w});
    } catch (const Error& error) {
      return error.status().message();
    }
    return {};
  }
  float gradient(Output y) {
    const Output gradient = dense(g, gradients(g, {y}, {w})[0], w);
    return value_or_throw(runtime.run(graph, {{w, Tensor::scalar(3.0f)}}, {gradient}))[0].item<float>();
  }
};

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_FIXTURE_TEST_SUITE(gradient_paths, Fixture)

// h = tanh(h w), five times: w enters the loop in addition to its variables.
BOOST_AUTO_TEST_CASE(what_only_the_body_of_a_loop_reads) {
  const Output h = repeated(number(1.0f), 5, [&](const Scope& s, Output x) {
    return s.add_one("Tanh", {s.add_one("Mul", {x, w})});
  });
  const std::string text = refusal(g.add_one("Square", {h}));
  BOOST_TEST(says(text, "Unimplemented: [Exit]"), text);
}

BOOST_AUTO_TEST_CASE(what_a_loop_begins_with) {
  const Output h = repeated(w, 2, [&](const Scope& s, Output x) { return s.add_one("Neg", {x}); });
  BOOST_TEST(says(refusal(h), "Unimplemented: [Exit]"));
}

// y = w + floor(loop(w)): no gradient passes Floor, so the loop needs none, and the gradient through w itself is found.
BOOST_AUTO_TEST_CASE(a_loop_that_no_gradient_reaches) {
  const Output h = repeated(w, 2, [&](const Scope& s, Output x) { return s.add_one("Add", {x, w}); });
  BOOST_TEST(gradient(g.add_one("Add", {w, g.add_one("Floor", {h})})) == 1.0f);
}

BOOST_AUTO_TEST_CASE(branches) {
  const auto y = cond(
      g, g.add_one("Less", {w, number(2.0f)}),
      [&](const Scope& s) { return std::vector{s.add_one("Neg", {w})}; },
      [&](const Scope& s) { return std::vector{s.add_one("Square", {w})}; });
  BOOST_TEST(says(refusal(y[0]), "Unimplemented: [Merge]"));
}

// y = list[0] where list = [w]
BOOST_AUTO_TEST_CASE(lists_of_tensors) {
  const Output empty =
      g.add_one("EmptyTensorList", {number<int32_t>(-1), number<int32_t>(-1)}, {{"element_dtype", f32}});
  const Output list = g.add_one("TensorListPushBack", {empty, w});
  const NodeId popped = g.add("TensorListPopBack", {list, number<int32_t>(-1)}, {{"element_dtype", f32}});
  BOOST_TEST(says(refusal({popped, 1}), "Unimplemented: [TensorListPopBack]"));
}

BOOST_AUTO_TEST_CASE(integers_carry_no_gradient) {
  const Output steps = g.add_one("Cast", {g.add_one("Cast", {w}, {{"DstT", i32}})}, {{"DstT", f32}});
  BOOST_TEST(gradient(g.add_one("Add", {w, steps})) == 1.0f);
  BOOST_TEST(std::holds_alternative<std::monostate>(gradients(g, {steps}, {w})[0]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test
