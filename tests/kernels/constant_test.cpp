// Tests of ops without inputs and of ops that return their input.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/ops/run_op.h"

namespace troupe::test::constant_test {
namespace {

BOOST_AUTO_TEST_SUITE(constants)

BOOST_AUTO_TEST_CASE(a_constant_yields_its_value) {
  for (const Tensor& value :
       {floats(Shape{2}, {1, 2}), strings({"a", ""}), int_scalar(3), counting(Shape{0, 2})})
    check_op("Const", {}, {{"value", value}, {"dtype", value.dtype()}}, {value});
  const auto refused = run_op("Const", {}, {{"value", int_scalar(3)}, {"dtype", f32}});
  BOOST_TEST(refused.status().text() == "value is int32[], but dtype is float");
}

BOOST_AUTO_TEST_CASE(a_placeholder_that_is_not_fed_names_its_type_and_shape) {
  const auto refused = run_op("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{-1, 3}}});
  BOOST_TEST(refused.status().text() == "a value of dtype float and shape [?,3] must be fed");
  check_op("PlaceholderWithDefault", {ints({1, 2})}, {{"shape", PartialShape{-1}}}, {ints({1, 2})});
  check_refused("PlaceholderWithDefault", {ints({1, 2})}, {{"shape", PartialShape{3}}}, "");
}

BOOST_AUTO_TEST_CASE(fill_repeats_a_scalar) {
  check_op("Fill", {ints({2, 2}), Tensor::scalar(1.5f)}, {}, {floats(Shape{2, 2}, {1.5f, 1.5f, 1.5f, 1.5f})});
  check_op("Fill", {ints({2}), Tensor::scalar<std::string>("x")}, {}, {strings({"x", "x"})});
  check_op("Fill", {ints({}), int_scalar(0)}, {}, {int_scalar(0)});
  check_op("Fill", {ints({0, 3}), Tensor::scalar(true)}, {}, {Tensor::of<bool>(Shape{0, 3}, {})});
  check_refused("Fill", {ints({-2}), int_scalar(0)}, {}, "[-2] has a");
  check_refused("Fill", {ints({1}), ints({0})}, {}, "");
  const auto large = run_op("Fill", {ints({INT32_MAX, INT32_MAX}), int_scalar(0)});
  BOOST_TEST((large.status().code() == Code::ResourceExhausted));
  check_refused("Fill", {ints({INT32_MAX, INT32_MAX, INT32_MAX}), int_scalar(0)}, {},
                "has more than 2^63 - 1 elements");
}

BOOST_AUTO_TEST_CASE(identities_share_their_input) {
  const Tensor x = counting(Shape{3});
  for (const char* op : {"Identity", "StopGradient", "PreventGradient"}) {
    check_op(op, {x}, {}, {x});
    BOOST_TEST(value_or_throw(run_op(op, {x}))[0].shares_buffer_with(x));
  }
}

BOOST_AUTO_TEST_CASE(numbers_that_are_none_are_found) {
  const Attributes here{{"message", std::string("here")}};
  check_op("CheckNumerics", {floats(Shape{2}, {1, 2})}, here, {floats(Shape{2}, {1, 2})});
  check_refused("CheckNumerics", {floats(Shape{2}, {1, NAN})}, here, "here : Tensor had NaN values");
  check_refused("CheckNumerics", {floats(Shape{2}, {-INFINITY, NAN})}, here,
                "here : Tensor had Inf and NaN values");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::constant_test
