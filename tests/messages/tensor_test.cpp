#include "messages/values/tensor.h"

#include <boost/test/unit_test.hpp>

#include <limits>

namespace troupe::tensor_test {
namespace {

BOOST_AUTO_TEST_SUITE(tensor)

BOOST_AUTO_TEST_CASE(holds_what_it_was_given) {
  const auto matrix = Tensor::of<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  BOOST_TEST((matrix.dtype() == f32));
  BOOST_TEST(matrix.signature() == "float[2,3]");
  BOOST_TEST(matrix.bytes() == 24u);
  BOOST_TEST(matrix.as<float>()[5] == 6.0f);
  BOOST_TEST(matrix.completion().ready());
  BOOST_TEST(Tensor::scalar<int64_t>(7).as<int64_t>()[0] == 7);
  BOOST_TEST(Tensor::vector<std::string>({"a", "bc"}).as<std::string>()[1] == "bc");
  BOOST_TEST(!Tensor{}.valid());
}

BOOST_AUTO_TEST_CASE(what_has_been_moved_from_equals_a_default_constructed_tensor) {
  const auto check_empty = [](const Tensor& tensor) {
    BOOST_TEST(!tensor.valid());
    BOOST_TEST(tensor.signature() == Tensor{}.signature());
    BOOST_TEST(tensor.bytes() == Tensor{}.bytes());
    BOOST_TEST(tensor.layout() == 0);
    BOOST_CHECK_THROW(tensor.item<float>(), Error);
  };
  Tensor first = Tensor::of<float>({2, 1}, {3, 4}).rows(1, 2);
  first.set_layout(1);
  Tensor second = std::move(first);
  check_empty(first);  // NOLINT(bugprone-use-after-move): that is what is tested
  BOOST_TEST(second.item<float>() == 4);
  first = std::move(second);
  check_empty(second);  // NOLINT(bugprone-use-after-move): that is what is tested
  BOOST_TEST(first.item<float>() == 4);
  BOOST_TEST(first.layout() == 1);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto refusal = [](auto function) {
    try {
      function();
    } catch (const Error& error) {
      return error.status().text();
    }
    return std::string("nothing");
  };
  const auto matrix = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  BOOST_TEST(Tensor::of<float>({1, 1}, {7}).item<float>() == 7);
  BOOST_TEST(refusal([] {
               Tensor::of<float>({2, 3}, {1, 2});
             }) == "a tensor float[2,3] cannot be made of 2 elements");
  BOOST_TEST(refusal([&] { static_cast<void>(matrix.as<double>()); }) ==
             "a tensor float[2,3] is not of type double");
  BOOST_TEST(refusal([&] { static_cast<void>(matrix.item<float>()); }) ==
             "a tensor float[2,3] has 6 elements, not one");
  BOOST_TEST(refusal([] { Shape{2, -3}; }) == "shape [2,-3] has a negative dimension");
}

BOOST_AUTO_TEST_CASE(copies_and_views_share_the_buffer) {
  auto matrix = Tensor::of<int32_t>(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  BOOST_TEST(matrix.unique());
  const Tensor rows = matrix.rows(1, 3);
  BOOST_TEST(rows.shares_buffer_with(matrix));
  BOOST_TEST(!matrix.unique());
  BOOST_TEST((rows.shape() == Shape{2, 2}));
  BOOST_TEST(rows.as<int32_t>()[0] == 3);
  BOOST_TEST(rows.rows(1, 2).as<int32_t>()[1] == 6);
  BOOST_TEST(rows.rows(1, 1).elements() == 0);
  const Tensor flat = matrix.reshaped(Shape::vector(6));
  BOOST_TEST(flat.shares_buffer_with(matrix));
  BOOST_TEST(flat.as<int32_t>()[4] == 5);
}

BOOST_AUTO_TEST_CASE(a_copy_has_memory_of_its_own) {
  const Tensor matrix = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  Tensor copy = matrix.rows(1, 2).copy();
  BOOST_TEST(!copy.shares_buffer_with(matrix));
  BOOST_TEST(identical(copy, Tensor::of<float>({1, 2}, {3, 4})));
  copy.write<float>()[0] = 7;
  BOOST_TEST(matrix.as<float>()[2] == 3);
  const Tensor texts = Tensor::vector<std::string>({"a", std::string(100, 'b')});
  BOOST_TEST(identical(texts.copy(), texts));
  BOOST_CHECK_THROW(Tensor().copy(), Error);
}

BOOST_AUTO_TEST_CASE(a_moved_from_tensor_holds_nothing) {
  auto first = Tensor::scalar(1.0f);
  const Tensor second = std::move(first);
  BOOST_TEST(!first.valid());  // NOLINT: on purpose
  BOOST_TEST(second.unique());
  first = second;
  BOOST_TEST(first.shares_buffer_with(second));
}

BOOST_AUTO_TEST_CASE(empty_shapes_are_legal) {
  const auto none = Tensor::allocate(f32, Shape{0, 5});
  BOOST_TEST_REQUIRE(none.ok());
  BOOST_TEST(none->bytes() == 0u);
  BOOST_TEST(none->as<float>().empty());
  BOOST_TEST(none->rows(0, 0).elements() == 0);
  BOOST_TEST(identical(*none, *Tensor::allocate(f32, Shape{0, 5})));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_allocated_is_an_error) {
  BOOST_TEST(!Tensor::allocate(DType::Resource, Shape{}).ok());
  BOOST_TEST(!Tensor::allocate(DType::Invalid, Shape{}).ok());
  // 2^61 doubles: their number of bytes does not fit 64 bits.
  const auto huge = Tensor::allocate(f64, Shape{int64_t{1} << 61});
  BOOST_TEST_REQUIRE(!huge.ok());
  BOOST_TEST((huge.status().code() == Code::ResourceExhausted));
  BOOST_TEST(!Tensor::allocate(DType::String, Shape{int64_t{1} << 61}).ok());
}

BOOST_AUTO_TEST_CASE(identity_is_of_bits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(identical(Tensor::scalar(nan), Tensor::scalar(nan)));
  BOOST_TEST(!identical(Tensor::scalar(0.0f), Tensor::scalar(-0.0f)));
  BOOST_TEST(!identical(Tensor::scalar(1), Tensor::vector({1})));
  BOOST_TEST(!identical(Tensor::scalar(int32_t{1}), Tensor::scalar(1.0f)));
  BOOST_TEST(identical(Tensor::scalar(std::string("x")), Tensor::scalar(std::string("x"))));
  BOOST_TEST(identical(Tensor{}, Tensor{}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::tensor_test
