#include <limits>

#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

void add_function(OpCases& cases, const std::string& op, double low, double high) {
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

void add_paired(OpCases& cases, const std::string& op, double low, double high) {
  cases.good(op, {random_doubles(Shape{3, 5}, low, high, 1), random_doubles(Shape{3, 5}, low, high, 2)});
  cases.good_in_every_type(
      op, {random_doubles(Shape{37}, low, high, 3), random_doubles(Shape{37}, low, high, 4)});
  cases.good(op, {doubles({}, {low}), doubles({}, {high})});
  cases.good(op, {random_doubles(Shape{0, 3}, 0, 1), random_doubles(Shape{0, 3}, 0, 1)});
  cases.bad(op, {random_doubles(Shape{2, 3}, 0, 1), random_doubles(Shape{3}, 0, 1)}, {}, "[2,3]");
  cases.bad(op, {random_doubles(Shape{2}, 0, 1), random_doubles(Shape{3}, 0, 1)}, {}, "[2]");
}

}  // namespace

void add_elementwise_unary_cases(OpCases& cases) {
  for (const char* op : {"Neg", "Abs", "Sign", "Square", "Exp", "Sin", "Cos", "Expm1", "Erf", "Erfc"})
    add_function(cases, op, -3, 3);
  for (const char* op : {"Sqrt", "Rsqrt", "Reciprocal", "Inv", "Log", "Log1p"})
    add_function(cases, op, 0.25, 4);
  for (const char* op : {"Floor", "Ceil", "Round", "IsNan", "IsInf", "IsFinite"})
    add_function(cases, op, -3, 3);
  cases.good("Round", {doubles(Shape{6}, {0.5, 1.5, 2.5, -0.5, -1.5, -2.5})});
  for (const char* op : {"Neg", "Abs", "Sign", "Square"})
    for (const DType dtype : {DType::Int32, DType::Int64, DType::Int8, DType::UInt8, DType::Int16,
                              DType::UInt16, DType::UInt32, DType::UInt64})
      cases.good(op, {converted(random_doubles(Shape{37}, -200, 200), dtype)});
  cases.good("Abs", {ints({INT32_MIN, INT32_MAX})});
  for (const DType dtype : {DType::Int32, DType::Int64, DType::Int8, DType::Int16})
    cases.good("Round", {converted(random_doubles(Shape{37}, -100, 100), dtype)});
  cases.good_in_every_type("Log1p", {random_doubles(Shape{7}, 1, 4)});
  for (const Shape& shape : {Shape(), Shape{7}, Shape{0, 2}})
    cases.good_in_every_type("Conj", {converted(random_doubles(shape, 1, 2), DType::Complex128)});
  cases.bad("Conj", {doubles({}, {1})}, {}, "T is double");
  for (const char* op : {"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"}) add_paired(cases, op, 0.5, 2);
}

void add_activation_cases(OpCases& cases) {
  for (const char* op : {"Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Sigmoid", "Tanh"}) {
    add_function(cases, op, -4, 8);
    cases.good(op, {converted(random_doubles(Shape{37}, -100, 100), DType::Float)});
  }
  for (const char* op : {"Relu", "Relu6"})
    for (const DType dtype : {DType::Int32, DType::Int8, DType::UInt8, DType::Int64})
      cases.good(op, {converted(random_doubles(Shape{37}, -9, 9), dtype)});
  for (const char* op : {"ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad",
                         "SigmoidGrad", "TanhGrad"}) {
    add_paired(cases, op, -0.9, 0.9);
    add_paired(cases, op, 3, 8);
  }
}

}  // namespace troupe::test
