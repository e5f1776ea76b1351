// What ops that choose among numbers make of a NaN: it is not hidden by the numbers beside it.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/ops/op_case.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::nan_test {
namespace {

constexpr DType types[] = {DType::Half, DType::BFloat16, DType::Float, DType::Double};

Tensor vector(std::initializer_list<float> values) {
  return floats(Shape{static_cast<int64_t>(values.size())}, values);
}
Tensor longs_of(std::initializer_list<int64_t> values) { return Tensor::vector<int64_t>(values); }
Tensor numbered(int64_t rows) { return converted(counting(Shape{rows, 1}), DType::Int32); }

/// Checks one output of an op, of which a NaN is equal to each NaN.
void check_numbers(const std::string& op, const std::vector<Tensor>& inputs, std::span<const float> expected,
                   size_t output = 0) {
  const Tensor result = converted(value_or_throw(run_op(op, inputs))[output], DType::Float);
  const auto found = result.as<float>();
  BOOST_TEST_REQUIRE(found.size() == expected.size(), op << " has " << found.size() << " elements");
  for (size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST((found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))),
               op << " of " << text_of(inputs[0]) << ": element " << i << " is " << found[i] << ", expected "
                  << expected[i]);
}
void check_numbers(const std::string& op, const std::vector<Tensor>& inputs,
                   std::initializer_list<float> expected, size_t output = 0) {
  check_numbers(op, inputs, std::span(expected.begin(), expected.size()), output);
}

BOOST_AUTO_TEST_SUITE(nans)

BOOST_AUTO_TEST_CASE(of_two_elements) {
  for (const DType dtype : types) {
    const Tensor a = converted(vector({NAN, 1, NAN, 1}), dtype),
                 b = converted(vector({1, NAN, NAN, 2}), dtype);
    check_numbers("Maximum", {a, b}, {NAN, NAN, NAN, 2});
    check_numbers("Minimum", {a, b}, {NAN, NAN, NAN, 1});
    const Tensor first = longs_of({0, 1, 2}).reshaped(Shape{3, 1}), shape = longs_of({4}),
                 second = longs_of({0, 1, 3}).reshaped(Shape{3, 1});
    const Tensor left = converted(vector({NAN, 1, NAN}), dtype),
                 right = converted(vector({1, NAN, NAN}), dtype);
    for (const char* const op : {"SparseSparseMaximum", "SparseSparseMinimum"})
      check_numbers(op, {first, left, shape, second, right, shape}, {NAN, NAN, NAN, NAN}, 1);
  }
}

BOOST_AUTO_TEST_CASE(of_activations_and_limits) {
  for (const DType dtype : types) {
    const auto typed = [dtype](std::initializer_list<float> values) {
      return converted(vector(values), dtype);
    };
    check_numbers("Relu", {typed({NAN, -1, 7, NAN, 2})}, {NAN, 0, 7, NAN, 2});
    check_numbers("Relu6", {typed({NAN, -1, 7, NAN, 2})}, {NAN, 0, 6, NAN, 2});
    // A limit that is NaN sets no limit.
    check_numbers("ClipByValue", {typed({1, 7, -1, NAN}), typed({NAN, NAN, 0, 0}), typed({5, NAN, NAN, 5})},
                  {1, 7, 0, NAN});
  }
}

BOOST_AUTO_TEST_CASE(of_reduced_rows) {
  for (const DType dtype : types)
    for (const int64_t size : {3, 33, 2051})
      for (const int64_t place : {int64_t{0}, size / 2, size - 1}) {
        Tensor row = value_or_throw(Tensor::allocate(DType::Float, Shape{size}));
        std::ranges::fill(row.write<float>(), 1.0F);
        row.write<float>()[static_cast<size_t>(place)] = NAN;
        row = converted(row, dtype);
        for (const char* const op : {"Max", "Min"}) {
          check_numbers(op, {row, int_scalar(0)}, {NAN});
          check_numbers(op, {row.reshaped(Shape{size, 1}), ints({0, 1})}, {NAN});
        }
      }
}

BOOST_AUTO_TEST_CASE(of_segments) {
  const Tensor ids = ints({0, 0, 1, 1, 2, 2, 2, 3});
  for (const DType dtype : types) {
    const Tensor data = converted(vector({NAN, 1, 1, NAN, 3, NAN, 4, 5}), dtype);
    for (const char* const op : {"SegmentMax", "SegmentMin"})
      check_numbers(op, {data, ids}, {NAN, NAN, NAN, 5});
    for (const char* const op : {"UnsortedSegmentMax", "UnsortedSegmentMin"})
      check_numbers(op, {data, ids, int_scalar(4)}, {NAN, NAN, NAN, 5});
  }
}

BOOST_AUTO_TEST_CASE(of_scattered_elements) {
  for (const DType dtype : types) {
    const Tensor tensor = converted(vector({NAN, 1, NAN, 1}), dtype),
                 updates = converted(vector({1, NAN, NAN, 2}), dtype);
    check_numbers("TensorScatterMax", {tensor, numbered(4), updates}, {NAN, NAN, NAN, 2});
    check_numbers("TensorScatterMin", {tensor, numbered(4), updates}, {NAN, NAN, NAN, 1});
    check_numbers("ScatterMax", {tensor, ints({0, 1, 2, 3}), updates}, {NAN, NAN, NAN, 2});
    check_numbers("ScatterMin", {tensor, ints({0, 1, 2, 3}), updates}, {NAN, NAN, NAN, 1});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::nan_test
