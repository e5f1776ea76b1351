// Tests of the paths that gradients take through a graph: a path that a gradient cannot take is an error, never a zero.
#include <boost/test/unit_test.hpp>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "tests/support/failure_of.h"
#include "tests/support/local_graph.h"
#include "tests/support/says.h"

namespace troupe::test::gradient_paths_test {
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

BOOST_FIXTURE_TEST_SUITE(gradient_paths, Fixture)

BOOST_AUTO_TEST_CASE(given_gradients_fit_the_ys) {
  const Output y = g.add_one("Square", {w}), z = g.add_one("Neg", {w});
  const auto refused = [&](const std::vector<Gradient>& given) {
    const Status status = failure_of([&] { gradients(g, {y, z}, {w}, given); });
    BOOST_TEST((status.code() == Code::InvalidArgument));
    return status.text();
  };
  const Gradient five = number(5.0f), none;
  BOOST_TEST(refused({five}) == "the number of grad_ys is 1, but that of ys is 2");
  BOOST_TEST(refused({five, none, none}) == "the number of grad_ys is 3, but that of ys is 2");
  BOOST_TEST(refused({none, number<double>(5)}) == "grad_ys[1] is double, but Neg:0 is float");
  const Output by_w = dense(g, gradients(g, {y, z}, {w}, {five, none})[0], w);
  BOOST_TEST(value_or_throw(runtime.run(graph, {{w, Tensor::scalar(3.0f)}}, {by_w}))[0].item<float>() ==
             5 * 2 * 3 - 1);
}

// A loop of another form: its variable leaves it before the condition.
BOOST_AUTO_TEST_CASE(a_loop_in_another_form) {
  const Attributes frame = {{"frame_name", std::string("frame")}};
  const Output enter = g.add_one("Enter", {w}, frame), merge = g.add_one("Merge", {enter, enter});
  const Output leave =
      g.add_one("LoopCond", {g.add_one("Less", {merge, g.add_one("Enter", {number(9.0f)}, frame)})});
  const NodeId sides = g.add("Switch", {g.add_one("Square", {merge}), leave});
  throw_if_failed(graph.replace_input(merge.node, 1, g.add_one("NextIteration", {{sides, 1}})));
  const std::string text = refusal(g.add_one("Exit", {{sides, 0}}));
  BOOST_TEST(says(text, "Unimplemented: [Exit]"), text);
}

// y = w + floor(loop(w)): no gradient passes Floor, so the loop needs none, and the gradient through w itself is found.
BOOST_AUTO_TEST_CASE(a_loop_that_no_gradient_reaches) {
  const Output h = repeated(w, 2, [&](const Scope& s, Output x) { return s.add_one("Add", {x, w}); });
  BOOST_TEST(gradient(g.add_one("Add", {w, g.add_one("Floor", {h})})) == 1.0f);
}

// y = what was pushed last, w
BOOST_AUTO_TEST_CASE(stacks) {
  const Output stack = g.add_one("StackV2", {number<int32_t>(-1)}, {{"elem_type", f32}});
  const Output pushed = g.add_one("StackPushV2", {stack, w});
  BOOST_TEST(says(refusal(pushed), "Unimplemented: [StackPushV2]"));
}

BOOST_AUTO_TEST_CASE(integers_carry_no_gradient) {
  const Output steps = g.add_one("Cast", {g.add_one("Cast", {w}, {{"DstT", i32}})}, {{"DstT", f32}});
  BOOST_TEST(gradient(g.add_one("Add", {w, steps})) == 1.0f);
  BOOST_TEST(std::holds_alternative<std::monostate>(gradients(g, {steps}, {w})[0]));
}

// y = w + zeros like log(w) + ones like log(w): the infinite derivative of the logarithm of 0 would make NaN.
BOOST_AUTO_TEST_CASE(constants_of_a_shape_carry_no_gradient) {
  const Output logarithm = g.add_one("Log", {w});
  const Output constants =
      g.add_one("Add", {g.add_one("ZerosLike", {logarithm}), g.add_one("OnesLike", {logarithm})});
  BOOST_TEST(gradient(g.add_one("Add", {w, constants})) == 1.0f);
  BOOST_TEST(std::holds_alternative<std::monostate>(gradients(g, {constants}, {w})[0]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::gradient_paths_test
