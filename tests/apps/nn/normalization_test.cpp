// Normalisation of doubles, for which layers use other ops than for floats: results, gradients and moving averages are the same.
#include <boost/test/unit_test.hpp>

#include <functional>

#include "apps/nn/layers.h"
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_case.h"

namespace troupe::test::normalization_test {
namespace {

using Add = std::function<Output(const nn::Network&, Output)>;

struct Fixture : LocalGraph {
  /// Returns a layer's result for x of a dtype, its gradients by x and by the trainable weights, and the moving averages after a
  /// step, all of them as doubles. The weights of a layer do not depend on the dtype.
  std::vector<Tensor> results(const Tensor& x, DType dtype, nn::Mode mode, const Add& add) {
    uint64_t weights = 0;
    std::vector<Output> by = {g.constant(converted(x, dtype))};
    const nn::Network network(g, mode, [&](const nn::Weight& weight) {
      BOOST_TEST((weight.dtype == dtype), weight.name);
      const Shape shape = value_or_throw(weight.shape.to_shape(f64));
      const Output edge = g.constant(converted(random_doubles(shape, 0.5, 1.5, ++weights), dtype));
      if (weight.trainable) by.push_back(edge);
      return edge;
    });
    const Output y = add(network, by[0]);
    BOOST_TEST((g.dtype(y) == dtype));
    BOOST_TEST(g.shape(y).text() == x.shape().text());
    std::vector<Output> fetches = {y};
    const Output factors = g.constant(converted(random_doubles(x.shape(), -1, 1, 99), dtype));
    const auto found = gradients(g, {mul(g, y, factors)}, by);
    for (size_t i = 0; i < by.size(); ++i) fetches.push_back(dense(g, found[i], by[i]));
    for (const nn::MovingAverage& average : network.averages())
      fetches.push_back(sub(g, average.value, mul(g, average.difference, average.rate)));
    for (Output& fetch : fetches) fetch = cast(g, fetch, f64);
    return value_or_throw(runtime.run(graph, {}, fetches));
  }

  /// Checks that a layer of x yields `count` tensors in double, which are those that it yields in float.
  void check(const Tensor& x, nn::Mode mode, size_t count, const Add& add) {
    const auto found = results(x, f64, mode, add), expected = results(x, f32, mode, add);
    BOOST_TEST_REQUIRE(found.size() == count);
    BOOST_TEST_REQUIRE(expected.size() == count);
    for (size_t i = 0; i < count; ++i) {
      const std::string what = difference(found[i], expected[i], {1e-4, 1e-5});
      BOOST_TEST(what.empty(), x.shape().text() << ", result " << i << ": " << what);
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(normalization_of_doubles, Fixture)

BOOST_AUTO_TEST_CASE(batch_norm_computes_what_it_does_for_floats) {
  const Add all = [](const nn::Network& n, Output x) {
    return nn::batch_norm(n, x, {.decay = 0.9, .activation = "sigmoid"});
  };
  const Add bare = [](const nn::Network& n, Output x) {
    return nn::batch_norm(n, x, {.epsilon = 0.01, .scale = false, .offset = false});
  };
  for (const Shape& shape : {Shape{8, 3}, Shape{1, 3}, Shape{4, 5, 3}, Shape{2, 3, 4, 5}}) {
    const Tensor x = random_doubles(shape, -2, 3);
    check(x, nn::Mode::Training, 6, all);  // y, gradients by x, gamma and beta, two averages
    check(x, nn::Mode::Training, 4, bare);
    check(x, nn::Mode::Inference, 4, all);
    check(x, nn::Mode::Inference, 2, bare);
  }
}

BOOST_AUTO_TEST_CASE(batch_norm_of_doubles_keeps_their_digits) {
  const Add layer = [](const nn::Network& n, Output x) {
    return nn::batch_norm(n, x, {.decay = 0, .epsilon = 0, .scale = false, .offset = false});
  };
  // Floats would not tell these apart.
  const Tensor x = Tensor::of<double>(Shape{2, 1}, {1 - 1e-10, 1 + 1e-10});
  const auto found = results(x, f64, nn::Mode::Training, layer);
  BOOST_TEST(difference(found[0], Tensor::of<double>(Shape{2, 1}, {-1, 1}), {1e-5, 0}) == "");
  BOOST_TEST(difference(found[2], Tensor::vector<double>({1}), {1e-14, 0}) == "");
}

BOOST_AUTO_TEST_CASE(batch_norm_refuses_doubles_of_other_ranks) {
  const nn::Network network(g);
  const Output x = g.constant(random_doubles(Shape{1, 1, 1, 1, 2}, 0, 1));
  BOOST_CHECK_EXCEPTION(nn::batch_norm(network, x), Error, [](const Error& error) {
    return std::string(error.what()).find("its rank must be 2, 3 or 4") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(lrn_computes_what_it_does_for_floats) {
  for (const int64_t radius : {1, 2, 3, 20})
    check(random_doubles(Shape{2, 3, 2, 6}, -2, 2), nn::Mode::Training, 2,
          [&](const nn::Network& n, Output x) {
            return nn::lrn(n, x, {.depth_radius = radius, .bias = 1.5, .alpha = 0.3, .beta = 0.75});
          });
}

BOOST_AUTO_TEST_CASE(lrn_sums_the_squares_of_the_channels_around) {
  const Tensor x = Tensor::of<double>(Shape{1, 1, 1, 3}, {1, 2, 3});
  const auto of_radius = [&](int64_t radius) {
    return results(x, f64, nn::Mode::Inference, [&](const nn::Network& n, Output in) {
      return nn::lrn(n, in, {.depth_radius = radius, .beta = 1});
    })[0];
  };
  const auto expected = [](double a, double b, double c) {
    return Tensor::of<double>(Shape{1, 1, 1, 3}, {1 / a, 2 / b, 3 / c});
  };
  BOOST_TEST(difference(of_radius(1), expected(6, 15, 14), {1e-14, 0}) == "");
  BOOST_TEST(difference(of_radius(INT64_MAX), expected(15, 15, 15), {1e-14, 0}) == "");
}

BOOST_AUTO_TEST_CASE(sizes_need_not_be_known_to_check_a_model) {
  const nn::Network network(g, nn::Mode::Check, [&](const nn::Weight& weight) {
    return placeholder(g, weight.dtype, weight.shape);
  });
  const Output x = placeholder(g, f64, PartialShape{unknown_dim, unknown_dim, unknown_dim, unknown_dim});
  BOOST_TEST(g.shape(nn::lrn(network, x)).text() == "[?,?,?,?]");
  BOOST_TEST(g.shape(nn::batch_norm(network, x)).rank() == 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::normalization_test
