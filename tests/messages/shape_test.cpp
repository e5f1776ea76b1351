#include "messages/values/shape.h"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace troupe::shape_test {
namespace {

BOOST_AUTO_TEST_SUITE(shape)

Result<Shape> make(std::vector<int64_t> dims, DType dtype = DType::UInt8,
                   uint64_t cap = Shape::default_byte_cap) {
  return Shape::make(dims, dtype, cap);
}

BOOST_AUTO_TEST_CASE(counts_elements) {
  BOOST_TEST(Shape{}.elements() == 1);
  BOOST_TEST(Shape{}.is_scalar());
  BOOST_TEST(make({2, 3, 4})->elements() == 24);
  BOOST_TEST(make({2, 0, 4})->elements() == 0);
  BOOST_TEST(make({2, 3, 4, 5, 6})->text() == "[2,3,4,5,6]");
  BOOST_TEST(Shape{}.text() == "[]");
  BOOST_TEST(make(std::vector<int64_t>(255, 1))->rank() == 255u);
}

BOOST_AUTO_TEST_CASE(refuses_what_cannot_be) {
  constexpr int64_t big = int64_t{1} << 32;
  BOOST_TEST(!make({-1}).ok());
  BOOST_TEST(!make({INT64_MIN, 0}).ok());
  BOOST_TEST(!make({big, big}).ok());     // 2^64 wraps to 0
  BOOST_TEST(!make({big, big, 0}).ok());  // a zero must not hide the overflow
  BOOST_TEST(!make({0, big, big}).ok());
  BOOST_TEST(!make({INT64_MAX, INT64_MAX}).ok());
  BOOST_TEST(!make({int64_t{1} << 40}, DType::Float).ok());
  BOOST_TEST(make({int64_t{1} << 40}).ok());
  BOOST_TEST(!make({(int64_t{1} << 40) + 1}).ok());
  BOOST_TEST(!make(std::vector<int64_t>(256, 1)).ok());
  BOOST_TEST(make({25}, DType::Float, 100).ok());
  const auto refused = make({big, big}, DType::Float);
  BOOST_TEST((refused.status().code() == Code::InvalidArgument));
  BOOST_TEST((make({26}, DType::Float, 100).status().code() == Code::ResourceExhausted));
  BOOST_TEST(refused.status().text().find("[4294967296,4294967296] of float") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(elements_are_named_by_position) {
  BOOST_TEST(position_text(0, Shape{}) == "[]");
  BOOST_TEST(position_text(3, Shape{5}) == "[3]");
  BOOST_TEST(position_text(7, Shape{2, 1, 4}) == "[1,0,3]");
}

BOOST_AUTO_TEST_CASE(copies_and_moves_keep_every_rank) {
  for (size_t rank = 0; rank <= 9; ++rank) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < rank; ++i) dims.push_back(static_cast<int64_t>(i) + 1);
    const Shape shape = *make(dims);
    Shape copy = shape, assigned = Shape{7, 7, 7, 7, 7, 7};
    assigned = shape;
    BOOST_TEST((copy == shape));
    BOOST_TEST((assigned == shape));
    assigned = assigned;  // NOLINT: on purpose
    BOOST_TEST((assigned == shape));
    const Shape moved = std::move(copy);
    BOOST_TEST((moved == shape));
    BOOST_TEST(moved.elements() == shape.elements());
    const Shape empty = copy;  // NOLINT: a moved-from shape can still be copied
    BOOST_TEST((empty == Shape{}));
  }
  BOOST_TEST(!(Shape{2, 3} == Shape{3, 2}));
  BOOST_TEST(!(Shape{6} == Shape{6, 1}));
}

BOOST_AUTO_TEST_CASE(axes_count_from_both_ends) {
  BOOST_TEST(*resolve_axis(0, 3) == 0u);
  BOOST_TEST(*resolve_axis(-1, 3) == 2u);
  BOOST_TEST(*resolve_axis(-3, 3) == 0u);
  for (const int64_t axis : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN})
    BOOST_TEST(!resolve_axis(axis, 3).ok());
  BOOST_TEST(!resolve_axis(0, 0).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::shape_test
