#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

constexpr DType real_types[] = {DType::Float, DType::Half,  DType::BFloat16, DType::Int32, DType::Int64,
                                DType::Int8,  DType::UInt8, DType::Int16,    DType::UInt16};

/// Shapes that broadcast in every way: equal, scalar, rows, columns, both sides, missing axes, none at all; odd sizes.
void add_shapes(OpCases& cases, const std::string& op, double low, double high) {
  const Shape pairs[][2] = {
      {Shape(), Shape()},
      {Shape::of({7}), Shape::of({7})},
      {Shape::of({19}), Shape()},
      {Shape(), Shape::of({5})},
      {Shape::of({3, 5}), Shape::of({5})},
      {Shape::of({3, 5}), Shape::of({3, 1})},
      {Shape::of({1, 5}), Shape::of({3, 1})},
      {Shape::of({2, 1, 4}), Shape::of({3, 1})},
      {Shape::of({2, 3, 2, 2}), Shape::of({1, 3, 1, 2})},
      {Shape::of({1}), Shape::of({1, 1})},
      {Shape::of({0, 3}), Shape::of({1, 3})},
      {Shape::of({2, 0}), Shape::of({2, 1})},
  };
  uint64_t seed = 0;
  for (const auto& [a, b] : pairs) {
    cases.good(op, {random_doubles(a, low, high, ++seed), random_doubles(b, low, high, ++seed + 100)});
  }
}

/// Values 1 to 9 in every type it takes, large enough to be shared between threads once.
void add_types(OpCases& cases, const std::string& op, bool integers = true) {
  for (const DType dtype : real_types) {
    if (!integers && is_integer(dtype)) continue;
    cases.good(op, {converted(random_doubles(Shape::of({13}), 1, 9, 3), dtype),
                    converted(random_doubles(Shape::of({3, 1}), 1, 4, 4), dtype)});
  }
  const Tensor large = converted(random_doubles(Shape::of({300, 501}), 1, 9, 5), DType::Float);
  cases.good(op, {large, converted(random_doubles(Shape::of({501}), 1, 9, 6), DType::Float)});
  cases.good(op, {large, converted(random_doubles(Shape::of({300, 501}), 1, 9, 7), DType::Float)});
}

void add_refused(OpCases& cases, const std::string& op) {
  cases.bad(op, {random_doubles(Shape::of({2, 3}), 0, 1), random_doubles(Shape::of({4}), 0, 1)}, {}, "3");
  cases.bad(op, {doubles({}, {1}), floats({}, {1})}, {}, "input y is float, expected double");
  cases.bad(op, {Tensor::scalar(QInt8{}), Tensor::scalar(QInt8{})}, {}, "T is qint8");
}

}  // namespace

void add_elementwise_binary_cases(OpCases& cases) {
  for (const char* op :
       {"Add", "Sub", "Mul", "Div", "RealDiv", "Maximum", "Minimum", "SquaredDifference", "Pow", "FloorDiv",
        "FloorMod", "Mod", "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"}) {
    add_shapes(cases, op, 0.5, 2.5);
    add_types(cases, op, std::string_view(op) != "RealDiv");
    add_refused(cases, op);
  }
  for (const char* op : {"Add", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "SquaredDifference"})
    add_shapes(cases, op, -2, 2);
  for (const char* op :
       {"Add", "Sub", "Mul", "Div", "RealDiv", "SquaredDifference", "Pow", "Equal", "NotEqual"})
    for (const DType dtype : {DType::Complex64, DType::Complex128})
      cases.good(op, {converted(random_doubles(Shape::of({5}), 1, 2), dtype),
                      converted(random_doubles(Shape::of({5}), 1, 2, 2), dtype)});
  for (const char* op : {"Div", "FloorDiv", "FloorMod", "Mod"}) {
    cases.good(op, {ints({7, -7, 7, -7, INT32_MIN, INT32_MIN}), ints({2, 2, -2, -2, -1, 3})});
    cases.bad(op, {ints({1, 2}), ints({3, 0})}, {}, "division by zero at element 1 of y int32[2]");
    cases.good(op, {ints({}), ints(Shape::of({1}), {0})});
  }
  for (const char* op : {"FloorMod", "Mod"})
    cases.good(op,
               {doubles(Shape::of({4}), {7.3, -7.3, 7.3, -7.3}), doubles(Shape::of({4}), {2, 2, -2, -2})});
  cases.bad("Pow", {ints({1, 2}), ints({3, -1})}, {}, "negative integer exponent at element 1 of y int32[2]");
  cases.good("Add", {strings({"a", "b"}), strings({"c"})});
  cases.good("Equal", {strings({"a", "b"}), strings({"b"})});
  cases.good("NotEqual", {bools(Shape::of({2}), {true, false}), bools(Shape::of({2}), {true, true})});
  for (const char* op : {"LogicalAnd", "LogicalOr"}) {
    cases.good(op,
               {bools(Shape::of({2, 2}), {true, true, false, false}), bools(Shape::of({2}), {true, false})});
    cases.bad(op, {ints({1}), ints({1})}, {}, "input x is int32, expected bool");
    cases.bad(op, {bools(Shape::of({2}), {true, true}), bools(Shape::of({3}), {true, true, true})}, {}, "2");
  }
  cases.good("LogicalNot", {bools(Shape::of({2}), {true, false})});
  cases.bad("LogicalNot", {ints({1})}, {}, "input x is int32, expected bool");
}

}  // namespace troupe::test
