// What gradients lose when they are compressed is kept and sent later.
//
//   placeholder -> compressed, with a residual -> restored
#include "apps/nn/gradient_compression.h"

#include <boost/test/unit_test.hpp>

#include <cmath>

#include "actors/runtime.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"

namespace troupe::gradient_compression_test {
namespace {

using Floats = std::vector<float>;

/// Sends a gradient of four elements in several steps. Returns what arrives in each.
std::vector<Floats> arriving(nn::GradientCompression compression, const std::vector<Floats>& gradients) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output w = variable(g, zeros(g, {2, 2}), "w");
  const Output gradient = placeholder(g, f32, {2, 2}, "gradient");
  const Gradient sent = compression.compressed(g, {gradient, w});
  const Output arrived = std::get<Output>(compression.restored(g, compression.wide(g, sent), w));
  BOOST_TEST_REQUIRE(compression.updates().size() == 1u);
  Session session = runtime.session(graph);
  session.run({local_initializer(g)});
  std::vector<Floats> all;
  for (const Floats& values : gradients) {
    Tensor fed = value_or_throw(Tensor::allocate(f32, {2, 2}));
    std::ranges::copy(values, fed.write<float>().begin());
    const auto result = session.run({{gradient, fed}}, {arrived, compression.updates()[0]});
    BOOST_TEST((result[0].shape() == Shape{2, 2}));
    const auto elements = result[0].as<float>();
    all.emplace_back(elements.begin(), elements.end());
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gradient_compression)

BOOST_AUTO_TEST_CASE(the_largest_elements_are_sent_and_the_others_add_up) {
  const auto steps = arriving(nn::GradientCompression(0.25), {{1, -5, 3, 0}, {1, 0, 3, 0}, {0, 0, 0, 0}});
  BOOST_TEST(steps[0] == (Floats{0, -5, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(steps[1] == (Floats{0, 0, 6, 0}), boost::test_tools::per_element());
  BOOST_TEST(steps[2] == (Floats{2, 0, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rounding_errors_do_not_add_up) {
  for (const DType narrow : {DType::BFloat16, DType::Half}) {
    const std::vector<Floats> gradients(100, {0.1f, 1.001f, -3.3333f, 1e-3f});
    Floats sum(4, 0);
    for (const Floats& step : arriving(nn::GradientCompression(narrow), gradients))
      for (size_t i = 0; i < 4; ++i) sum[i] += step[i];
    for (size_t i = 0; i < 4; ++i)
      BOOST_TEST(std::abs(sum[i] - 100 * gradients[0][i]) < 0.01f * std::abs(gradients[0][i]));
  }
}

BOOST_AUTO_TEST_CASE(numbers_beyond_half_are_sent_in_several_steps) {
  const auto steps =
      arriving(nn::GradientCompression(DType::Half), {{100'000, -100'000, 0, 1}, {0, 0, 0, 1}});
  BOOST_TEST(steps[0] == (Floats{65504, -65504, 0, 1}), boost::test_tools::per_element());
  BOOST_TEST(steps[1] == (Floats{34496, -34496, 0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(wrong_forms_are_refused) {
  for (const double keep : {0.0, -1.0, 1.5, std::nan("")})
    BOOST_TEST((test::failure_of([&] { nn::GradientCompression{keep}; }).code() == Code::InvalidArgument));
  BOOST_TEST(test::failure_of([] { nn::GradientCompression{DType::Float}; }).message() ==
             "InvalidArgument: gradients are compressed to bfloat16 or half, not to float");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::gradient_compression_test
