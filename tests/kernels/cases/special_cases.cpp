// Samples of trigonometric and special functions, of products in which a zero decides, and of ops on bits.
#include <cmath>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

void add_trigonometric_cases(OpCases& cases) {
  for (const char* op : {"Tan", "Asin", "Acos", "Atanh"}) add_function_cases(cases, op, -0.9, 0.9);
  for (const char* op : {"Atan", "Sinh", "Cosh", "Asinh"}) add_function_cases(cases, op, -3, 3);
  add_function_cases(cases, "Acosh", 1.1, 4);
}

void add_zero_safe_cases(OpCases& cases) {
  const Tensor zero_or_not = doubles(Shape{2, 1}, {0, 2}), unsafe = doubles(Shape{4}, {0, -1, HUGE_VAL, NAN});
  for (const char* op : {"MulNoNan", "Xdivy", "Xlogy", "Xlog1py"}) {
    add_broadcast_cases(cases, op, 0.5, 2.5);
    for (const DType dtype : {DType::Float, DType::Complex64})
      cases.good(op, {converted(zero_or_not, dtype), converted(unsafe, dtype)});
  }
}

void add_gamma_cases(OpCases& cases) {
  for (const char* op : {"Lgamma", "Digamma"}) add_function_cases(cases, op, 0.3, 4);
  cases.good("Lgamma", {doubles(Shape{5}, {-0.5, -1.5, -2.25, 0.2, 171})});
  cases.good("Lgamma", {converted(random_doubles(Shape{90001}, 0.1, 9), f32)});
  for (const char* op : {"Igamma", "Igammac", "Polygamma", "IgammaGradA"})
    add_broadcast_cases(cases, op, 0.5, 2.5, "x");
  add_broadcast_cases(cases, "Zeta", 1.5, 3.5, "q");
  add_broadcast_cases(cases, "RandomGammaGrad", 0.5, 2.5, "sample");
}

void add_betainc_cases(OpCases& cases) {
  const auto numbers = [](const Shape& shape, uint64_t seed) {
    return random_doubles(shape, 0.2, 0.9, seed);
  };
  const Shape shapes[] = {Shape(), Shape{7}, Shape{2, 3}, Shape{0, 3}, Shape{41, 50}};
  for (const Shape& shape : shapes) {
    cases.good("Betainc", {numbers(shape, 1), numbers(shape, 2), numbers(shape, 3)});
    cases.good("Betainc", {numbers(Shape(), 1), numbers(shape, 2), numbers(Shape(), 3)});
    cases.good("Betainc", {numbers(shape, 1), numbers(Shape(), 2), numbers(shape, 3)});
  }
  for (const DType dtype : {DType::Float, DType::Double})
    cases.good("Betainc", {converted(numbers(Shape{13}, 1), dtype), converted(numbers(Shape{13}, 2), dtype),
                           converted(numbers(Shape{13}, 3), dtype)});
  cases.bad("Betainc", {numbers(Shape{2}, 1), numbers(Shape{3}, 2), numbers(Shape(), 3)}, {}, "[2]");
  cases.bad("Betainc", {numbers(Shape{2}, 1), numbers(Shape{2}, 2), numbers(Shape{2, 1}, 3)}, {}, "[2,1]");
  cases.bad("Betainc", {ints({1}), ints({1}), ints({1})}, {}, "T is int32");
}

void add_bit_cases(OpCases& cases) {
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"}) {
    cases.good_in_every_type(op,
                             {ints({1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9}), ints(Shape{3, 1}, {1, 2, 5})});
    cases.good(op, {ints({-1, INT32_MIN, INT32_MAX, 5, 5, 5}), ints({1, 3, 31, -1, 32, 100})});
    cases.good(op, {ints(Shape{0, 3}, {}), ints({1, 2, 3})});
    cases.good(op, {Tensor::scalar<int32_t>(6), Tensor::scalar<int32_t>(3)});
    cases.bad(op, {ints({1, 2}), ints({1, 2, 3})}, {}, "3");
    cases.bad(op, {doubles({}, {1}), doubles({}, {1})}, {}, "T is double");
  }
  for (const char* op : {"Invert", "PopulationCount"}) {
    cases.good_in_every_type(op, {ints({1, 2, 3, 4, 5, 6, 7, 8, 9})});
    cases.good(op, {ints({0, -1, INT32_MIN, INT32_MAX, 5})});
    cases.good(op, {ints(Shape{0, 3}, {})});
    cases.good(op, {Tensor::scalar<int32_t>(6)});
    cases.bad(op, {doubles({}, {1})}, {}, "T is double");
  }
}

}  // namespace

void add_special_cases(OpCases& cases) {
  add_trigonometric_cases(cases);
  add_zero_safe_cases(cases);
  add_gamma_cases(cases);
  add_betainc_cases(cases);
  add_bit_cases(cases);
  add_function_cases(cases, "Ndtri", 0.1, 0.9);
  add_function_cases(cases, "Erfinv", -0.9, 0.9);
  for (const char* op : {"BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0",
                         "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Rint"})
    add_function_cases(cases, op, 0.2, 3);
  for (const char* op : {"BesselI0", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1"})
    cases.good(op, {doubles(Shape{2}, {0, -1})});
  add_broadcast_cases(cases, "NextAfter", 0.5, 2.5, "x2");
}

}  // namespace troupe::test
