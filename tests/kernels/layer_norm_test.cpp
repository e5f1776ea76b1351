// LayerNorm and its first and second derivatives against the same formula made of other ops, in double; and numbers that spoil a
// careless variance.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/op_case.h"

namespace troupe::test::layer_norm_test {
namespace {

constexpr float epsilon = 0.125F;

struct Fixture : LocalGraph {
  Output x = constant(Shape{3, 4, 6}, 1), scale = constant(Shape{6}, 2), offset = constant(Shape{6}, 3);

  Output constant(const Shape& shape, uint64_t seed) {
    return g.constant(random_doubles(shape, -2, 2, seed));
  }
  Output fused() { return g.add_one("LayerNorm", {x, scale, offset}, {{"epsilon", epsilon}}); }
  Output composed() {
    const Output distance = sub(g, x, mean(g, x, {-1}, true));
    const Output inverse = rsqrt(g, add(g, mean(g, square(g, distance), {-1}, true), epsilon));
    return add(g, mul(g, mul(g, distance, inverse), scale), offset);
  }
  /// Returns the gradients by x, scale and offset of the sum of cubes of y.
  std::vector<Output> derivatives(Output y) {
    return dense(gradients(g, {sum(g, mul(g, y, square(g, y)))}, {x, scale, offset}));
  }
  /// Returns those of the sum of the cubes of the derivatives by x and scale.
  std::vector<Output> second_derivatives(Output y) {
    const auto first = derivatives(y);
    const auto cubes = [&](Output z) { return sum(g, mul(g, z, square(g, z))); };
    return dense(gradients(g, {add(g, cubes(first[0]), cubes(first[1]))}, {x, scale, offset}));
  }
  std::vector<Output> dense(const std::vector<Gradient>& found) {
    std::vector<Output> result;
    for (const Gradient& gradient : found) result.push_back(std::get<Output>(gradient));
    return result;
  }
  void check_equal(const std::vector<Output>& ours, const std::vector<Output>& theirs) {
    std::vector<Output> fetches = ours;
    fetches.insert(fetches.end(), theirs.begin(), theirs.end());
    const auto values = value_or_throw(runtime.run(graph, {}, fetches));
    for (size_t i = 0; i < ours.size(); ++i) {
      const auto a = values[i].as<double>(), b = values[ours.size() + i].as<double>();
      BOOST_TEST(values[i].shape().text() == values[ours.size() + i].shape().text());
      for (size_t k = 0; k < b.size(); ++k)
        BOOST_TEST(std::abs(a[k] - b[k]) <= 1e-10 * (1 + std::abs(b[k])), i << ": " << a[k] << " " << b[k]);
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(layer_norm, Fixture)

BOOST_AUTO_TEST_CASE(values) { check_equal({fused()}, {composed()}); }
BOOST_AUTO_TEST_CASE(first_derivatives) { check_equal(derivatives(fused()), derivatives(composed())); }
BOOST_AUTO_TEST_CASE(derivatives_of_derivatives) {
  check_equal(second_derivatives(fused()), second_derivatives(composed()));
}

BOOST_AUTO_TEST_CASE(large_means_do_not_spoil_the_variance) {
  const Tensor wide = random_doubles(Shape{4, 500}, 9999, 10001);
  std::vector<float> ones_of_row(500, 1.0F);
  const Tensor row = Tensor::vector<float>(std::span<const float>(ones_of_row));
  const auto outputs = value_or_throw(run_op("LayerNorm", {converted(wide, f32), row, row}, {}));
  for (const float inverse : outputs[2].as<float>())
    BOOST_TEST(std::abs(1 / (inverse * inverse) - 1.0 / 3) < 0.05);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::layer_norm_test
