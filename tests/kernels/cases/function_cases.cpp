// Samples that all functions of single elements share.
#include <algorithm>
#include <limits>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

/// Adds samples of every type, large enough to be split over threads.
void add_types(OpCases& cases, const std::string& op) {
  cases.good_in_every_type(op, {random_doubles(Shape{13}, 1, 9, 3), random_doubles(Shape{3, 1}, 1, 4, 4)});
  const Tensor large = converted(random_doubles(Shape{300, 501}, 1, 9, 5), DType::Float);
  cases.good(op, {large, converted(random_doubles(Shape{501}, 1, 9, 6), DType::Float)});
  cases.good(op, {large, converted(random_doubles(Shape{300, 501}, 1, 9, 7), DType::Float)});
}

void add_refused(OpCases& cases, const std::string& op, const std::string& second) {
  cases.bad(op, {random_doubles(Shape{2, 3}, 0, 1), random_doubles(Shape{4}, 0, 1)}, {}, "3");
  cases.bad(op, {doubles({}, {1}), floats({}, {1})}, {}, "input " + second + " is float, expected double");
  cases.bad(op, {Tensor::scalar(QInt8{}), Tensor::scalar(QInt8{})}, {}, "T is qint8");
}

}  // namespace

void add_function_cases(OpCases& cases, const std::string& op, double low, double high) {
  for (const Shape& shape : {Shape(), Shape{1}, Shape{7}, Shape{3, 5}, Shape{0, 2}})
    cases.good(op, {random_doubles(shape, low, high, static_cast<uint64_t>(shape.elements()))});
  const bool in_unit = high < 1;  // the domain ends at 1
  cases.good_in_every_type(
      op, {random_doubles(Shape{1, 37}, in_unit ? 0.2 : 1, in_unit ? high : std::max(1.5, high))});
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

void add_broadcast_shapes(OpCases& cases, const std::string& op, double low, double high) {
  const Shape pairs[][2] = {
      {Shape(), Shape()},         {Shape{7}, Shape{7}},          {Shape{19}, Shape()},
      {Shape(), Shape{5}},        {Shape{3, 5}, Shape{5}},       {Shape{3, 5}, Shape{3, 1}},
      {Shape{1, 5}, Shape{3, 1}}, {Shape{2, 1, 4}, Shape{3, 1}}, {Shape{2, 3, 2, 2}, Shape{1, 3, 1, 2}},
      {Shape{1}, Shape{1, 1}},    {Shape{0, 3}, Shape{1, 3}},    {Shape{2, 0}, Shape{2, 1}},
  };
  uint64_t seed = 0;
  for (const auto& [a, b] : pairs) {
    cases.good(op, {random_doubles(a, low, high, ++seed), random_doubles(b, low, high, ++seed + 100)});
  }
}

void add_broadcast_cases(OpCases& cases, const std::string& op, double low, double high,
                         const std::string& second) {
  add_broadcast_shapes(cases, op, low, high);
  add_types(cases, op);
  add_refused(cases, op, second);
}

}  // namespace troupe::test
