// Batch normalisation with statistics that are given, which TensorFlow's own kernel leaves partly undefined, and of nothing.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/ops/op_case.h"

namespace troupe::test::batch_norm_test {
namespace {

const Attributes inference{{"is_training", false}, {"epsilon", 0.0F}};

BOOST_AUTO_TEST_SUITE(batch_norm)

BOOST_AUTO_TEST_CASE(given_statistics_are_used_and_handed_on) {
  const Tensor x = floats(Shape{1, 1, 2, 2}, {1, 10, 3, 30}), scale = floats(Shape{2}, {2, 1}),
               offset = floats(Shape{2}, {0.5, 0}), mean = floats(Shape{2}, {1, 20}),
               variance = floats(Shape{2}, {4, 100});
  const auto outputs =
      value_or_throw(run_op("FusedBatchNormV3", {x, scale, offset, mean, variance}, inference));
  BOOST_TEST(identical(outputs[0], floats(Shape{1, 1, 2, 2}, {0.5, -1, 2.5, 1})));
  for (const size_t i : {1, 3}) BOOST_TEST(identical(outputs[i], mean));
  for (const size_t i : {2, 4}) BOOST_TEST(identical(outputs[i], variance));
  BOOST_TEST(identical(outputs[5], floats({}, {0})));
}

BOOST_AUTO_TEST_CASE(nothing_has_no_statistics) {
  const Tensor one = floats(Shape{1}, {1}), none = floats(Shape{0}, {});
  const auto outputs =
      value_or_throw(run_op("FusedBatchNorm", {floats(Shape{0, 2, 2, 1}, {}), one, one, none, none}, {}));
  for (size_t i = 1; i < 5; ++i) BOOST_TEST(std::isnan(outputs[i].as<float>()[0]));
}

BOOST_AUTO_TEST_CASE(large_means_do_not_spoil_the_variance) {
  const Tensor x = random_doubles(Shape{4, 40, 40, 3}, 9999, 10001);
  const Tensor three = floats(Shape{3}, {1, 1, 1}), none = floats(Shape{0}, {});
  const auto outputs =
      value_or_throw(run_op("FusedBatchNorm", {converted(x, f32), three, three, none, none}, {}));
  for (const float variance : outputs[2].as<float>()) BOOST_TEST(std::abs(variance - 1.0 / 3) < 0.01);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::batch_norm_test
