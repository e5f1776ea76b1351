// Samples that all functions of single elements share.
#include <algorithm>
#include <limits>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void add_function_cases(OpCases& cases, const std::string& op, double low, double high) {
  for (const Shape& shape : {Shape(), Shape{1}, Shape{7}, Shape{3, 5}, Shape{0, 2}})
    cases.good(op, {random_doubles(shape, low, high, static_cast<uint64_t>(shape.elements()))});
  cases.good_in_every_type(op, {random_doubles(Shape{1, 37}, 1, std::max(1.5, high))});
  for (const DType dtype : {DType::Float, DType::Half, DType::BFloat16})
    cases.good(op, {converted(random_doubles(Shape{1031}, low, high), dtype)});
  cases.good(op, {converted(random_doubles(Shape{200, 1001}, low, high), DType::Float)});
  const Tensor special = doubles(Shape{6}, {infinity, -infinity, nan, 1e300, -1e300, 1e-310});
  cases.good(op, {converted(special, DType::Float)});
  cases.bad(op, {strings({"a"})}, {}, "T is string");
}

void add_paired_cases(OpCases& cases, const std::string& op, double low, double high) {
  cases.good(op, {random_doubles(Shape{3, 5}, low, high, 1), random_doubles(Shape{3, 5}, low, high, 2)});
  cases.good_in_every_type(
      op, {random_doubles(Shape{37}, low, high, 3), random_doubles(Shape{37}, low, high, 4)});
  cases.good(op, {doubles({}, {low}), doubles({}, {high})});
  cases.good(op, {random_doubles(Shape{0, 3}, 0, 1), random_doubles(Shape{0, 3}, 0, 1)});
  cases.bad(op, {random_doubles(Shape{2, 3}, 0, 1), random_doubles(Shape{3}, 0, 1)}, {}, "[2,3]");
  cases.bad(op, {random_doubles(Shape{2}, 0, 1), random_doubles(Shape{3}, 0, 1)}, {}, "[2]");
}

}  // namespace troupe::test
