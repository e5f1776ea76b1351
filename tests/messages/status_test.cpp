#include "messages/values/status.h"

#include <boost/test/unit_test.hpp>

#include <memory>

namespace troupe::status_test {
namespace {

BOOST_AUTO_TEST_SUITE(status)

BOOST_AUTO_TEST_CASE(ok_is_empty) {
  const Status ok;
  BOOST_TEST(ok.ok());
  BOOST_TEST((ok.code() == Code::Ok));
  BOOST_TEST(ok.text().empty());
  BOOST_TEST(ok.message() == "Ok");
  BOOST_TEST(Status(Code::Ok, "ignored").ok());
  BOOST_TEST(ok_status().at_node("MatMul", "m").at_step(3).ok());
}

BOOST_AUTO_TEST_CASE(tells_where_it_happened) {
  const Status plain = invalid_argument("inner dimensions differ");
  BOOST_TEST(plain.message() == "InvalidArgument: inner dimensions differ");
  const Status placed = invalid_argument("inner dimensions differ")
                            .at_node("MatMul", "layer1/matmul")
                            .at_device("/device:CPU:0")
                            .at_step(7);
  BOOST_TEST(placed.message() ==
             "InvalidArgument: [MatMul] layer1/matmul on /device:CPU:0, step 7: inner dimensions differ");
  BOOST_TEST(plain.node().empty());
}

// The innermost place counts; code that passes a failure on adds no other place.
BOOST_AUTO_TEST_CASE(first_place_stays) {
  const Status first = internal("x").at_node("Add", "a").at_step(1);
  const Status later = Status(first).at_node("Call", "b").at_device("/device:CPU:0").at_step(2);
  BOOST_TEST(later.op() == "Add");
  BOOST_TEST(later.node() == "a");
  BOOST_TEST(later.step() == 1u);
  BOOST_TEST(later.device() == "/device:CPU:0");
  BOOST_TEST(first.device().empty());  // the change was made to a copy
}

BOOST_AUTO_TEST_CASE(codes_have_the_numbers_and_names_of_the_field) {
  BOOST_TEST(static_cast<int>(Code::DataLoss) == 15);
  BOOST_TEST(static_cast<int>(Code::OutOfRange) == 11);
  BOOST_TEST(name(Code::DeadlineExceeded) == "DeadlineExceeded");
  BOOST_TEST(name(static_cast<Code>(99)) == "Unknown");
  BOOST_TEST(retry_may_help(Code::Aborted));
  BOOST_TEST(retry_may_help(Code::Unavailable));
  BOOST_TEST(!retry_may_help(Code::OutOfRange));
}

Result<int> half(int number) {
  if (number % 2 != 0) return invalid_argument("odd");
  return number / 2;
}

Result<int> quarter(int number) {
  TROUPE_ASSIGN(const int first, half(number));
  TROUPE_ASSIGN(const int second, half(first));
  return second;
}

Status check_even(int number) {
  TROUPE_RETURN_IF_FAILED(half(number).status());
  return {};
}

BOOST_AUTO_TEST_CASE(results_carry_a_value_or_a_reason) {
  BOOST_TEST(*quarter(8) == 2);
  BOOST_TEST(!quarter(6).ok());
  BOOST_TEST(quarter(6).status().text() == "odd");
  BOOST_TEST(check_even(2).ok());
  BOOST_TEST(!check_even(1).ok());

  Result<std::unique_ptr<int>> moved = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(moved).value();
  BOOST_TEST(*taken == 5);
}

BOOST_AUTO_TEST_CASE(errors_say_how_to_exit) {
  BOOST_TEST(value_or_throw(half(4)) == 2);
  BOOST_CHECK_THROW(value_or_throw(half(3)), Error);
  BOOST_CHECK_NO_THROW(throw_if_failed(Status{}));
  BOOST_TEST(Error(invalid_argument("x")).exit_code() == 2);
  BOOST_TEST(Error(data_loss("x")).exit_code() == 3);
  BOOST_TEST(Error(internal("x")).exit_code() == 1);
  BOOST_TEST(std::string(Error(internal("x")).what()) == "Internal: x");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::status_test
