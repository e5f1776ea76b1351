// Tests of gradients that the program builds.
#include <boost/test/unit_test.hpp>

#include "graph/build/custom_gradient.h"
#include "tests/support/failure_of.h"
#include "tests/support/local_graph.h"
#include "tests/support/says.h"

namespace troupe::test::custom_gradient_test {
namespace {

struct Fixture : LocalGraph {
  Output x = g.with_name("x").add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});

  float run(Output fetch) {
    return value_or_throw(runtime.run(graph, {{x, Tensor::scalar(3.0f)}}, {fetch}))[0].item<float>();
  }
  Output gradient(Output y, Output by) { return dense(g, gradients(g, {y}, {by})[0], by); }
};

using Outputs = std::vector<Output>;
using Gradients = std::vector<Gradient>;

BOOST_FIXTURE_TEST_SUITE(custom_gradient, Fixture)

// y = x^2, z = x + 1; the gradient of x is said to be 10 dy + 100 dz.
BOOST_AUTO_TEST_CASE(the_builder_takes_the_place_of_the_ops) {
  const Outputs ys = {g.add_one("Square", {x}), g.add_one("Add", {x, number(1.0f)})};
  const WithGradient with = with_gradient(g, ys, {x}, [&](const Scope& s, const Outputs& d) {
    const auto times = [&](Output y, float factor) {
      return s.add_one("Mul", {y, s.constant(Tensor::scalar(factor))});
    };
    return Gradients{s.add_one("Add", {times(d[0], 10), times(d[1], 100)})};
  });
  BOOST_TEST(run(with.outputs[0]) == 9);
  BOOST_TEST(run(with.outputs[1]) == 4);
  BOOST_TEST(run(gradient(with.outputs[0], x)) == 10);  // nothing depends on z, whose gradient is 0
  BOOST_TEST(run(gradient(g.add_one("Mul", {with.outputs[0], with.outputs[1]}), x)) == 10 * 4 + 100 * 9);
}

// The gradient of the gradient is that of the ops that the builder has added.
BOOST_AUTO_TEST_CASE(the_built_nodes_have_gradients) {
  const WithGradient with =
      with_gradient(g, {g.add_one("Square", {x})}, {x}, [&](const Scope& s, const Outputs& d) {
        return Gradients{s.add_one("Mul", {d[0], s.add_one("Mul", {x, s.add_one("Square", {x})})})};
      });
  const Output first = gradient(with.outputs[0], x);
  BOOST_TEST(run(first) == 27);
  BOOST_TEST(run(gradient(first, x)) == 27);
}

BOOST_AUTO_TEST_CASE(an_input_may_have_no_gradient) {
  const WithGradient with = with_gradient(g, {g.add_one("Square", {x})}, {x},
                                          [](const Scope&, const Outputs&) { return Gradients(1); });
  BOOST_TEST(std::holds_alternative<std::monostate>(gradients(g, {with.outputs[0]}, {x})[0]));
}

BOOST_AUTO_TEST_CASE(a_wrong_number_of_gradients_is_refused) {
  const WithGradient with = with_gradient(g.with_name("squared"), {g.add_one("Square", {x})}, {x},
                                          [](const Scope&, const Outputs&) { return Gradients(2); });
  const Status status = failure_of([&] { gradients(g, {with.outputs[0]}, {x}); });
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.node() == "squared");
  BOOST_TEST(says(status.text(), "the gradient function returned 2 gradients; it must return 1"));
  BOOST_CHECK_THROW(with_gradient(g, {}, {x}, [](const Scope&, const Outputs&) { return Gradients(1); }),
                    Error);
}

BOOST_AUTO_TEST_CASE(a_gradient_of_another_dtype_is_refused) {
  const WithGradient with = with_gradient(g.with_name("squared"), {g.add_one("Square", {x})}, {x},
                                          [](const Scope& s, const Outputs& d) {
                                            return Gradients{s.add_one("Cast", {d[0]}, {{"DstT", f64}})};
                                          });
  const Status status = failure_of([&] { gradients(g, {with.outputs[0]}, {x}); });
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.node() == "squared");
  BOOST_TEST(status.text() ==
             "the gradient function returned double as the gradient of input 1, which is float");
}

BOOST_AUTO_TEST_CASE(a_builder_that_was_dropped_is_an_error) {
  WithGradient with = with_gradient(g, {g.add_one("Square", {x})}, {x},
                                    [](const Scope&, const Outputs&) { return Gradients(1); });
  with.gradient.reset();
  const Status status = failure_of([&] { gradients(g, {with.outputs[0]}, {x}); });
  BOOST_TEST((status.code() == Code::Unimplemented));
  BOOST_TEST(says(status.text(), "the node names the gradient function 'gradient_"), status.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::custom_gradient_test
