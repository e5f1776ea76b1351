#include "messages/values/dtype.h"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

namespace troupe::dtype_test {
namespace {

BOOST_AUTO_TEST_SUITE(dtype)

Half half_of_bits(uint16_t bits) {
  Half half;
  half.bits = bits;
  return half;
}

BOOST_AUTO_TEST_CASE(numbers_and_names_are_tensorflows) {
  BOOST_TEST(static_cast<int>(DType::BFloat16) == 14);
  BOOST_TEST(static_cast<int>(DType::Resource) == 20);
  for (int64_t number = 1; number <= 23; ++number) {
    const auto dtype = dtype_from_number(number);
    BOOST_TEST_REQUIRE(dtype.ok());
    const auto same = dtype_from_name(name(*dtype));
    BOOST_TEST_REQUIRE(same.ok());
    BOOST_TEST((*same == *dtype));
  }
  for (const int64_t number : {int64_t{-1}, int64_t{0}, int64_t{24}, int64_t{101}, INT64_MAX})
    BOOST_TEST(!dtype_from_number(number).ok());
  BOOST_TEST((*dtype_from_name("float32") == f32));
  BOOST_TEST((*dtype_from_name("float64") == f64));
  BOOST_TEST((*dtype_from_name("float16") == DType::Half));
  BOOST_TEST(!dtype_from_name("invalid").ok());
  BOOST_TEST(!dtype_from_name("floats").ok());
}

BOOST_AUTO_TEST_CASE(sizes_are_those_of_the_element_types) {
  BOOST_TEST(size_of(dtype_of<float>) == sizeof(float));
  BOOST_TEST(size_of(dtype_of<bool>) == sizeof(bool));
  BOOST_TEST(size_of(dtype_of<std::complex<double>>) == sizeof(std::complex<double>));
  BOOST_TEST(size_of(dtype_of<std::string>) == sizeof(std::string));
  BOOST_TEST(size_of(dtype_of<QInt32>) == sizeof(QInt32));
  BOOST_TEST(size_of(dtype_of<Half>) == sizeof(Half));
  BOOST_TEST(size_of(DType::Resource) == 0u);
  BOOST_TEST(size_of(DType::Variant) == sizeof(Variant));
  BOOST_TEST(size_of(static_cast<DType>(200)) == 0u);
}

BOOST_AUTO_TEST_CASE(every_half_survives_the_way_through_float) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half = half_of_bits(static_cast<uint16_t>(bits));
    const auto value = static_cast<float>(half);
    const Half back(value);
    const bool nan = (bits & 0x7c00u) == 0x7c00u && (bits & 0x3ffu) != 0;
    if (nan ? !(std::isnan(value) && std::isnan(static_cast<float>(back))) : back.bits != half.bits)
      BOOST_ERROR("half with bits " << bits << " came back as " << back.bits);
  }
}

// A number halfway between two neighbouring halves is rounded to the even one. Any other number is rounded to the nearer one.
BOOST_AUTO_TEST_CASE(floats_round_to_the_nearest_half_ties_to_even) {
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<float>(half_of_bits(bits)),
               high = static_cast<float>(half_of_bits(bits + 1));
    const float middle = low + (high - low) / 2;
    const uint16_t even = bits % 2 == 0 ? bits : bits + 1;
    const bool right = Half(middle).bits == even && Half(std::nextafter(middle, low)).bits == bits &&
                       Half(std::nextafter(middle, high)).bits == bits + 1 &&
                       Half(-middle).bits == (even | 0x8000u);
    if (!right) BOOST_ERROR("wrong rounding between halves " << bits << " and " << bits + 1);
  }
  BOOST_TEST(Half(65504.0f).bits == 0x7bffu);
  BOOST_TEST(Half(65519.996f).bits == 0x7bffu);
  BOOST_TEST(Half(65520.0f).bits == 0x7c00u);  // halfway to the next power of two is infinite
  BOOST_TEST(Half(std::numeric_limits<float>::max()).bits == 0x7c00u);
  BOOST_TEST(Half(std::numeric_limits<float>::denorm_min()).bits == 0u);
  BOOST_TEST(Half(-0.0f).bits == 0x8000u);
  BOOST_TEST(Half(-std::numeric_limits<float>::infinity()).bits == 0xfc00u);
}

BOOST_AUTO_TEST_CASE(bfloat16_rounds_to_nearest_even) {
  const auto bits_of = [](uint32_t bits32) { return BFloat16(std::bit_cast<float>(bits32)).bits; };
  BOOST_TEST(static_cast<float>(BFloat16(1.0f)) == 1.0f);
  BOOST_TEST(bits_of(0x3f80'7fffu) == 0x3f80u);
  BOOST_TEST(bits_of(0x3f80'8000u) == 0x3f80u);  // halfway: to the even one below
  BOOST_TEST(bits_of(0x3f80'8001u) == 0x3f81u);
  BOOST_TEST(bits_of(0x3f81'8000u) == 0x3f82u);  // halfway: to the even one above
  BOOST_TEST(bits_of(0xbf80'ffffu) == 0xbf81u);
  BOOST_TEST(bits_of(0x0000'0001u) == 0x0000u);
  BOOST_TEST(bits_of(0x7f7f'ffffu) == 0x7f80u);  // above the largest number: infinite
  BOOST_TEST(bits_of(0xff80'0000u) == 0xff80u);
  for (const uint32_t nan : {0x7f80'0001u, 0x7fc0'0000u, 0xffff'ffffu})
    BOOST_TEST(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(nan)))));
}

BOOST_AUTO_TEST_CASE(kinds) {
  BOOST_TEST(is_floating(DType::BFloat16));
  BOOST_TEST(is_differentiable(DType::BFloat16));
  BOOST_TEST(is_differentiable(DType::Complex64));
  BOOST_TEST(!is_differentiable(DType::Int32));
  BOOST_TEST(is_integer(DType::UInt16));
  BOOST_TEST(is_integer(DType::UInt32));
  BOOST_TEST(is_integer(DType::UInt64));
  BOOST_TEST(!is_integer(DType::QInt8));
  BOOST_TEST(!is_integer(DType::Bool));
  BOOST_TEST(!is_plain(DType::String));
  BOOST_TEST(!is_plain(DType::Resource));
  BOOST_TEST(!is_plain(DType::Variant));
  BOOST_TEST(is_plain(DType::QInt8));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::dtype_test
