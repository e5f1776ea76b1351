// Tests of strided copies against a plain loop over all elements, on boxes of every kind: permuted, split, repeated, reversed.
#include "kernels/loops/strided_copy.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/support/ops/run_op.h"

namespace troupe::test::strided_copy_test {
namespace {

/// Copies element by element, in order.
Tensor slow_copy(const Dims& dims, const Tensor& from, const Layout& from_layout, Tensor to,
                 const Layout& to_layout) {
  const auto source = from.as<float>();
  const auto target = to.write<float>();
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, at = from_layout.offset, into = to_layout.offset;
    for (size_t i = dims.size(); i-- > 0; rest /= dims[i]) {
      at += rest % dims[i] * from_layout.strides[i];
      into += rest % dims[i] * to_layout.strides[i];
    }
    target[static_cast<size_t>(into)] = source[static_cast<size_t>(at)];
  }
  return to;
}

Tensor zeros(int64_t elements) {
  const std::vector<float> values(static_cast<size_t>(elements));
  return Tensor::vector(std::span<const float>(values));
}

void check_copy(const Dims& dims, const Tensor& from, const Layout& from_layout, int64_t elements,
                const Layout& to_layout) {
  const auto pool = value_or_throw(ThreadPool::make(2));
  Tensor to = zeros(elements);
  strided_copy(*pool, dims, from, from_layout, to, to_layout);
  const Tensor expected = slow_copy(dims, from, from_layout, zeros(elements), to_layout);
  BOOST_TEST(identical(to, expected),
             "dims " << troupe::text_of(dims) << " from " << troupe::text_of(from_layout.strides));
}

BOOST_AUTO_TEST_SUITE(strided_copies)

BOOST_AUTO_TEST_CASE(every_permutation_of_every_small_shape) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Dims dims;
    for (size_t rank = random() % 5; rank > 0; --rank) dims.push_back(random() % 7);
    Dims order(dims.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::shuffle(order.begin(), order.end(), random);
    int64_t elements = 1;
    for (const int64_t dim : dims) elements *= dim;
    const Dims strides = strides_of(dims);
    Dims permuted, from_strides;
    for (const int64_t i : order) {
      permuted.push_back(dims[static_cast<size_t>(i)]);
      from_strides.push_back(strides[static_cast<size_t>(i)]);
    }
    check_copy(permuted, counting(value_or_throw(Shape::make(dims, f32))), {0, from_strides}, elements,
               {0, strides_of(permuted)});
  }
}

BOOST_AUTO_TEST_CASE(large_ones_are_shared_out) {
  const Tensor matrix = counting(Shape{700, 900});
  check_copy({900, 700}, matrix, {0, {1, 900}}, 630'000, {0, {700, 1}});                   // transposed
  check_copy({630'000}, matrix, {0, {1}}, 630'000, {0, {1}});                              // contiguous
  check_copy({630'000}, matrix, {629'999, {-1}}, 630'000, {0, {1}});                       // reversed
  check_copy({3, 700, 300}, matrix, {0, {300, 900, 1}}, 630'000, {0, {210'000, 300, 1}});  // three parts
  check_copy({100, 10, 9, 70}, matrix, {0, {9, 900, 1, 9'000}}, 630'000, {0, {6300, 630, 70, 1}});
  check_copy({50, 630}, matrix, {0, {0, 1}}, 31'500, {0, {630, 1}});       // repeated
  check_copy({350, 450}, matrix, {0, {1800, 2}}, 157'500, {0, {450, 1}});  // every second
}

BOOST_AUTO_TEST_CASE(more_dimensions_than_usual) {
  const Dims dims(std::vector<int64_t>{2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1});
  Dims reversed_strides = strides_of(dims);
  std::ranges::reverse(reversed_strides);
  Dims reversed = dims;
  std::ranges::reverse(reversed);
  check_copy(reversed, counting(value_or_throw(Shape::make(dims, f32))), {0, reversed_strides}, 64,
             {0, strides_of(reversed)});
}

BOOST_AUTO_TEST_CASE(elements_of_every_size) {
  const auto pool = value_or_throw(ThreadPool::make(1));
  const auto check = [&]<class T>(T a, T b, T c, T d) {
    const Tensor from = Tensor::of<T>(Shape{2, 2}, {a, b, c, d});
    Tensor to = value_or_throw(Tensor::allocate(from.dtype(), from.shape()));
    strided_copy(*pool, Dims{2, 2}, from, {0, {1, 2}}, to, {0, {2, 1}});
    BOOST_TEST(identical(to, Tensor::of<T>(Shape{2, 2}, {a, c, b, d})));
  };
  check(uint8_t{1}, uint8_t{2}, uint8_t{3}, uint8_t{4});
  check(int16_t{1}, int16_t{2}, int16_t{3}, int16_t{4});
  check(1.0f, 2.0f, 3.0f, 4.0f);
  check(1.0, 2.0, 3.0, 4.0);
  check(std::complex<double>(1, 1), std::complex<double>(2, 2), std::complex<double>(3, 3),
        std::complex<double>(4, 4));
  check(std::string("a"), std::string("b"), std::string("c"), std::string("d"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::strided_copy_test
