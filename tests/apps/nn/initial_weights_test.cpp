// The distributions from which initializers draw weights.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "actors/runtime.h"
#include "apps/nn/initializers.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"

namespace troupe::initial_weights_test {
namespace {

struct Fixture {
  Tensor draw(std::string_view initializer, const PartialShape& shape, DType dtype = f32) {
    Graph graph{runtime.ops()};
    const Scope g{graph};
    return runtime.session(graph).run({cast(g, nn::find_initializer(initializer)(g, shape, dtype), f32)})[0];
  }

  Runtime runtime{{.threads = 1}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(initial_weights, Fixture)

BOOST_AUTO_TEST_CASE(have_the_variance_of_their_distribution) {
  constexpr int64_t in = 200, out = 300;
  const auto check_variance = [&](std::string_view initializer, double expected) {
    double sum = 0, squares = 0;
    const Tensor weights = draw(initializer, {in, out});
    for (const float weight : weights.as<float>()) {
      sum += static_cast<double>(weight);
      squares += static_cast<double>(weight) * static_cast<double>(weight);
    }
    const double mean = sum / (in * out), variance = squares / (in * out) - mean * mean;
    BOOST_TEST(std::abs(mean) < 0.01 * std::sqrt(expected) * 2, initializer);
    BOOST_TEST(variance == expected, initializer << boost::test_tools::tolerance(0.03));
  };
  check_variance("glorot_uniform", 2.0 / (in + out));
  check_variance("glorot_normal", 2.0 / (in + out));
  check_variance("he_uniform", 2.0 / in);
  check_variance("he_normal", 2.0 / in);
  check_variance("lecun_normal", 1.0 / in);
  check_variance("orthogonal", 1.0 / out);
}

// The rows or the columns, of which there are fewer, are orthogonal to each other, and of length 1.
BOOST_AUTO_TEST_CASE(of_orthogonal_matrices_have_no_product) {
  const auto check_products = [&](const PartialShape& shape, int64_t rows, int64_t columns, DType dtype,
                                  double tolerance) {
    const Tensor weights = draw("orthogonal", shape, dtype);
    const auto at = [&, w = weights.as<float>()](int64_t vector, int64_t i) {
      return static_cast<double>(
          w[static_cast<size_t>(rows < columns ? vector * columns + i : i * columns + vector)]);
    };
    for (int64_t a = 0; a < std::min(rows, columns); ++a)
      for (int64_t b = 0; b <= a; ++b) {
        double product = 0;
        for (int64_t i = 0; i < std::max(rows, columns); ++i) product += at(a, i) * at(b, i);
        BOOST_TEST(std::abs(product - (a == b ? 1 : 0)) < tolerance);
      }
  };
  check_products({8, 8}, 8, 8, f32, 1e-5);
  check_products({3, 4, 5}, 12, 5, f64, 1e-6);
  check_products({5, 16}, 5, 16, DType::Half, 1e-2);
  const Status refused = test::failure_of([&] { draw("orthogonal", {7}); });
  BOOST_TEST(refused.text() ==
             "orthogonal: the weights have shape [7]; they must have two dimensions or more");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::initial_weights_test
