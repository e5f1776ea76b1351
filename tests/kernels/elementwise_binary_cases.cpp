#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

/// Shapes that broadcast in every way: equal, scalar, rows, columns, both sides, missing axes, none at all; odd sizes.
void add_shapes(OpCases& cases, const std::string& op, double low, double high) {
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

/// In every type; large enough to be shared between threads.
void add_types(OpCases& cases, const std::string& op) {
  cases.good_in_every_type(op, {random_doubles(Shape{13}, 1, 9, 3), random_doubles(Shape{3, 1}, 1, 4, 4)});
  const Tensor large = converted(random_doubles(Shape{300, 501}, 1, 9, 5), DType::Float);
  cases.good(op, {large, converted(random_doubles(Shape{501}, 1, 9, 6), DType::Float)});
  cases.good(op, {large, converted(random_doubles(Shape{300, 501}, 1, 9, 7), DType::Float)});
}

void add_refused(OpCases& cases, const std::string& op) {
  const std::string second = op == "Atan2" ? "x" : "y";
  cases.bad(op, {random_doubles(Shape{2, 3}, 0, 1), random_doubles(Shape{4}, 0, 1)}, {}, "3");
  cases.bad(op, {doubles({}, {1}), floats({}, {1})}, {}, "input " + second + " is float, expected double");
  cases.bad(op, {Tensor::scalar(QInt8{}), Tensor::scalar(QInt8{})}, {}, "T is qint8");
}

}  // namespace

void add_elementwise_binary_cases(OpCases& cases) {
  for (const char* op : {"Add",      "AddV2",       "Sub",
                         "Mul",      "Div",         "RealDiv",
                         "Maximum",  "Minimum",     "SquaredDifference",
                         "Pow",      "FloorDiv",    "FloorMod",
                         "Mod",      "TruncateMod", "TruncateDiv",
                         "DivNoNan", "Atan2",       "Equal",
                         "NotEqual", "Less",        "LessEqual",
                         "Greater",  "GreaterEqual"}) {
    add_shapes(cases, op, 0.5, 2.5);
    add_types(cases, op);
    add_refused(cases, op);
  }
  for (const char* op :
       {"Add", "Sub", "Mul", "RealDiv", "DivNoNan", "Atan2", "Maximum", "Minimum", "SquaredDifference"})
    add_shapes(cases, op, -2, 2);
  cases.good("DivNoNan", {floats(Shape{4}, {1, 0, -1, 5}), floats(Shape{4}, {0, 0, 0, 2})});
  for (const char* op : {"Div", "TruncateDiv", "FloorDiv", "FloorMod", "Mod", "TruncateMod"}) {
    cases.good(op, {ints({7, -7, 7, -7, INT32_MIN, INT32_MIN}), ints({2, 2, -2, -2, -1, 3})});
    cases.bad(op, {ints({1, 2}), ints({3, 0})}, {}, "division by zero at y[1] of int32[2]");
    cases.good(op, {ints({}), ints(Shape{1}, {0})});
  }
  for (const char* op : {"Equal", "NotEqual"}) {
    const Attributes compares{{"incompatible_shape_error", false}};
    cases.good(op, {ints({1, 2}), ints({1, 3})}, compares);
    cases.good(op, {ints({1, 2}), ints({1, 2, 3})}, compares);
    cases.good(op, {ints(Shape{2, 2}, {1, 2, 3, 4}), ints(Shape{3, 1}, {1, 2, 3})}, compares);
  }
  for (const char* op : {"FloorMod", "Mod", "TruncateMod"})
    cases.good(op, {doubles(Shape{4}, {7.3, -7.3, 7.3, -7.3}), doubles(Shape{4}, {2, 2, -2, -2})});
  cases.bad("Pow", {ints({1, 2}), ints({3, -1})}, {}, "negative integer exponent at y[1] of int32[2]");
  cases.good("Add", {strings({"a", "b"}), strings({"c"})});
  for (const char* op : {"LogicalAnd", "LogicalOr"}) {
    cases.good(op, {bools(Shape{2, 2}, {true, true, false, false}), bools(Shape{2}, {true, false})});
    const Tensor odd = converted(ints({0, 1, 1, 0, 1, 0, 0}), DType::Bool);
    cases.good(op, {odd, bools({}, {true})});
    cases.good(op, {bools(Shape{0, 2}, {}), bools(Shape{2}, {true, false})});
    cases.bad(op, {ints({1}), ints({1})}, {}, "input x is int32, expected bool");
    cases.bad(op, {bools(Shape{2}, {true, true}), bools(Shape{3}, {true, true, true})}, {}, "2");
  }
  for (const Tensor& tensor : {bools({}, {true}), bools(Shape{0}, {}), bools(Shape{2}, {true, false}),
                               converted(ints({0, 1, 1, 0, 1, 0, 0}), DType::Bool)})
    cases.good("LogicalNot", {tensor});
  cases.good_in_every_type("ToBool", {doubles({}, {7})});
  for (const Tensor& tensor : {random_doubles(Shape{3, 3}, 0, 1), random_doubles(Shape{0, 2}, 0, 1)})
    cases.good("ToBool", {tensor});
  cases.bad("ToBool", {}, {}, "takes 1 inputs, got 0");
  cases.bad("LogicalNot", {ints({1})}, {}, "input x is int32, expected bool");
}

}  // namespace troupe::test
