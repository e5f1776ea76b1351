// Samples of the ops of kernels/ops/math.
#include <functional>
#include <limits>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor box() { return random_doubles(Shape{2, 3, 5}, 1, 9, 31); }

constexpr DType cast_types[] = {DType::Float,  DType::Double, DType::Half,      DType::BFloat16,
                                DType::Int32,  DType::Int64,  DType::Int8,      DType::UInt8,
                                DType::Int16,  DType::UInt16, DType::Complex64, DType::Complex128,
                                DType::Bool,   DType::UInt32, DType::UInt64,    DType::QInt8,
                                DType::QUInt8, DType::QInt16, DType::QUInt16,   DType::QInt32};

void add_cast_cases(OpCases& cases) {
  const Tensor values = random_doubles(Shape{41}, -300, 70000);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor special = doubles(
      Shape{9}, {nan, inf, -inf, 1e300, -1e300, 2147483648.0, -2147483649.0, 9223372036854775808.0, -0.0});
  for (const DType from : cast_types)
    for (const DType to : cast_types) {
      cases.good("Cast", {converted(values, from)}, {{"DstT", to}});
      cases.good("Cast", {converted(values, from)}, {{"DstT", to}, {"Truncate", true}});
      if (is_floating(from) && to != DType::Double)
        cases.good("Cast", {converted(special, from)}, {{"DstT", to}});
    }
  cases.good("Cast", {random_doubles(Shape{0, 3}, 0, 1)}, {{"DstT", i32}});
  cases.good("Cast", {doubles({}, {3})}, {{"DstT", f64}});
  cases.good("Cast", {converted(random_doubles(Shape{300, 1001}, -9, 9), DType::Float)}, {{"DstT", i32}});
  cases.bad("Cast", {strings({"1"})}, {{"DstT", f32}}, "no kernel serves CPU with DstT: float, SrcT: string",
            Code::NotFound);
}

void add_sum_cases(OpCases& cases) {
  const Tensor x = random_doubles(Shape{2, 3}, -1, 1, 1), y = random_doubles(Shape{2, 3}, -1, 1, 2);
  cases.good("AddN", {x});
  cases.good("AddN", {x, y, y});
  cases.good_in_every_type("AddN", {x, y, x});
  cases.good("AddN", {doubles({}, {1}), doubles({}, {2})});
  cases.good("AddN", {random_doubles(Shape{0, 3}, 0, 1), random_doubles(Shape{0, 3}, 0, 1)});
  const Tensor large = converted(random_doubles(Shape{150000}, -1, 1), DType::Float);
  cases.good("AddN", {large, large, large});
  cases.bad("AddN", {x, random_doubles(Shape{3, 2}, 0, 1)}, {}, "input 1");
  cases.bad("AddN", {}, {}, "attribute N is 0");
  const Attributes shape{{"shape", PartialShape{2, 3}}};
  cases.good_in_every_type("AccumulateNV2", {x, y, x}, shape);
  cases.good("AccumulateNV2", {doubles({}, {1})}, {{"shape", PartialShape::scalar()}});
  cases.good("AccumulateNV2", {random_doubles(Shape{0, 3}, 0, 1)}, {{"shape", PartialShape{0, 3}}});
  cases.bad("AccumulateNV2", {x, random_doubles(Shape{3, 2}, 0, 1)}, shape, "input 1");
}

void add_elementwise_binary_cases(OpCases& cases) {
  for (const char* op : {"Add",      "AddV2",       "Sub",
                         "Mul",      "Div",         "RealDiv",
                         "Maximum",  "Minimum",     "SquaredDifference",
                         "Pow",      "FloorDiv",    "FloorMod",
                         "Mod",      "TruncateMod", "TruncateDiv",
                         "DivNoNan", "Atan2",       "Equal",
                         "NotEqual", "Less",        "LessEqual",
                         "Greater",  "GreaterEqual"}) {
    add_broadcast_cases(cases, op, 0.5, 2.5, op == std::string("Atan2") ? "x" : "y");
  }
  for (const char* op :
       {"Add", "Sub", "Mul", "RealDiv", "DivNoNan", "Atan2", "Maximum", "Minimum", "SquaredDifference"})
    add_broadcast_shapes(cases, op, -2, 2);
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

void add_elementwise_unary_cases(OpCases& cases) {
  for (const char* op : {"Neg", "Abs", "Sign", "Square", "Exp", "Sin", "Cos", "Expm1", "Erf", "Erfc"})
    add_function_cases(cases, op, -3, 3);
  for (const char* op : {"Sqrt", "Rsqrt", "Reciprocal", "Inv", "Log", "Log1p"})
    add_function_cases(cases, op, 0.25, 4);
  for (const char* op : {"Floor", "Ceil", "Round", "IsNan", "IsInf", "IsFinite"})
    add_function_cases(cases, op, -3, 3);
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
  for (const char* op : {"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"})
    add_paired_cases(cases, op, 0.5, 2);
}

const Attributes keep = {{"keep_dims", true}};

/// Adds every set of axes of a box, with and without the axes kept, and shapes with sizes 0 and 1.
void add_axes(OpCases& cases, const std::string& op, const std::function<Tensor(const Shape&)>& make) {
  const Tensor box = make(Shape{2, 3, 2, 5});
  for (int set = 0; set < 16; ++set) {
    std::vector<int32_t> axes;
    for (int axis = 0; axis < 4; ++axis)
      if ((set >> axis & 1) != 0) axes.push_back(axis);
    cases.good(op, {box, Tensor::vector<int32_t>(std::span<const int32_t>(axes))},
               set % 2 == 0 ? keep : Attributes());
  }
  cases.good(op, {box, Tensor::vector<int64_t>({-1, 0})});
  cases.good(op, {box, int_scalar(-2)});
  cases.good(op, {make(Shape()), ints({})});
  cases.good(op, {make(Shape{1, 3, 1}), ints({0, 2})});
  cases.good(op, {make(Shape{2, 0}), ints({0})});
  cases.bad(op, {box, ints({4})}, {}, "axis 4 is outside [-4, 4)");
  cases.bad(op, {box, ints({0, -5})}, {}, "axis -5 is outside [-4, 4)");
  cases.bad(op, {box, ints({1, -3})}, {}, "axis -3 stands for a dimension that the axes name twice");
  cases.bad(op, {box, ints(Shape{1, 1}, {0})}, {}, "must be a scalar or a vector");
}

/// Adds shapes large enough for blocks: long runs, tall columns, narrow columns, wide rows.
void add_large(OpCases& cases, const std::string& op) {
  const auto sample = [&](std::initializer_list<int64_t> dims, std::initializer_list<int32_t> axes) {
    cases.good(op, {converted(random_doubles(Shape(dims), 0.999, 1.001), DType::Float), ints(axes)});
  };
  sample({200003}, {0});
  sample({3, 70001}, {1});
  sample({2000, 101}, {0});
  sample({30001, 3}, {0});
  sample({150, 5003}, {0});
  sample({7, 40, 9, 31}, {1, 3});
}

void add_reduction_cases(OpCases& cases) {
  const auto random = [](const Shape& shape) { return random_doubles(shape, 0.5, 2, 9); };
  for (const char* op : {"Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"}) {
    add_axes(cases, op, random);
    add_large(cases, op);
    cases.good_in_every_type(op, {random_doubles(Shape{5, 7}, 1, 9), ints({1})});
    cases.bad(op, {strings({"a"}), ints({0})}, {}, "T is string");
  }
  cases.good("Prod", {doubles(Shape{4, 3}, {1, 2, 3, 0, 5, 6, 0, 8, 0, 0, 0, 0}), ints({1})});
  for (const char* op : {"Sum", "Prod"}) cases.good(op, {random_doubles(Shape{0, 3}, 0, 1), ints({0})});
  for (const char* op : {"Max", "Min", "EuclideanNorm"}) cases.good(op, {floats(Shape{0, 3}, {}), ints({0})});
  cases.good("Mean", {floats(Shape{0, 3}, {}), ints({0})});
  cases.bad("Mean", {ints(Shape{0, 3}, {}), ints({0})}, {},
            "the mean of zero integers is undefined; the input is int32[0,3]");
  for (const char* op : {"All", "Any"})
    add_axes(cases, op, [](const Shape& shape) {  // mostly equal elements with a few exceptions
      return converted(converted(random_doubles(shape, -1.5, 1.5), DType::Int32), DType::Bool);
    });
  for (const char* op : {"All", "Any"})
    cases.good(op, {converted(ints({1, 1, 1, 0, 1, 1, 1}), DType::Bool), ints({0})});
  for (const char* op : {"ArgMax", "ArgMin"}) {
    cases.good_in_every_type(op, {random_doubles(Shape{9, 3}, 1, 9), int_scalar(0)}, {{"output_type", i64}});
    for (const int axis : {0, 1, 2, -1})
      cases.good(op, {random_doubles(Shape{3, 4, 5}, -1, 1), int_scalar(axis)});
    cases.good(op, {floats(Shape{5}, {1, 3, 3, 0, 0}), int_scalar(0)}, {{"output_type", i32}});
    cases.good(op, {floats(Shape{0, 2}, {}), int_scalar(1)});
    cases.bad(op, {floats(Shape{0, 2}, {}), int_scalar(0)}, {}, "axis 0 of float[0,2] is empty");
    cases.bad(op, {floats(Shape{2}, {1, 2}), int_scalar(1)}, {}, "axis 1 is outside [-1, 1)");
    cases.bad(op, {floats({}, {1}), int_scalar(0)}, {}, "a scalar");
  }
}

void add_fused_cases(OpCases& cases) {
  const std::string op = "_FusedElementwise";
  const auto program = [](std::vector<std::string> steps, int64_t arguments) {
    return Attributes{{"program", std::move(steps)}, {"num_args", arguments}};
  };
  const Tensor x = converted(random_doubles(Shape{3, 400}, -1, 1), DType::Float);
  cases.good(op, {x, floats(Shape{}, {2}), x}, program({"Mul 0 1", "Exp 3", "Sub 2 4"}, 3));
  cases.good(op, {floats(Shape{}, {2}), floats(Shape{}, {3})}, program({"Add 0 1", "Tanh 2"}, 2));
  cases.good(op, {floats(Shape{0, 2}, {})}, program({"Neg 0"}, 1));
  cases.good(op, {floats(Shape{7}, {1, -2, 3, 0, 5, -6, 7})}, program({"Relu 0"}, 1));
  cases.bad(op, {x, floats(Shape{3}, {1, 2, 3})}, program({"Add 0 1"}, 2), "[3]");
  cases.bad(op, {x}, program({"MatMul 0 0"}, 1), "'MatMul' is not elementwise");
}

void add_product_cases(OpCases& cases) {
  const auto matrix = [](int64_t rows, int64_t columns, uint64_t seed) {
    return random_doubles(Shape{rows, columns}, 1, 9, seed);
  };
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      cases.good("MatMul", {a ? matrix(5, 3, 1) : matrix(3, 5, 1), b ? matrix(4, 5, 2) : matrix(5, 4, 2)},
                 {{"transpose_a", a}, {"transpose_b", b}});
      const Attributes adjoints{{"adj_x", a}, {"adj_y", b}};
      const Tensor x = random_doubles(a ? Shape{2, 5, 3} : Shape{2, 3, 5}, -1, 1),
                   y = random_doubles(b ? Shape{2, 2, 5} : Shape{2, 5, 2}, -1, 1, 2);
      for (const char* op : {"BatchMatMul", "BatchMatMulV2"}) cases.good(op, {x, y}, adjoints);
      const Tensor one_x = x.rows(0, 1), one_y = y.rows(0, 1);
      cases.good("BatchMatMulV2", {x, one_y.reshaped(b ? Shape{2, 5} : Shape{5, 2})}, adjoints);
      cases.good("BatchMatMulV2", {one_x, y}, adjoints);
      cases.good("BatchMatMulV2", {x.reshaped(a ? Shape{2, 1, 5, 3} : Shape{2, 1, 3, 5}), y}, adjoints);
    }
  cases.good_in_every_type("MatMul", {matrix(3, 7, 1), matrix(7, 2, 2)});
  cases.good("MatMul",
             {converted(matrix(301, 203, 1), DType::Float), converted(matrix(203, 101, 2), DType::Float)});
  cases.good("MatMul", {matrix(0, 3, 1), matrix(3, 2, 1)});
  cases.good("MatMul", {matrix(2, 0, 1), matrix(0, 3, 1)});
  cases.bad("MatMul", {matrix(2, 3, 1), matrix(4, 5, 1)}, {}, "[2,3]");
  cases.bad("MatMul", {one(), matrix(4, 5, 1)}, {}, "[]");
  for (const char* op : {"BatchMatMul", "BatchMatMulV2"}) {
    cases.good_in_every_type(op, {matrix(3, 7, 1), matrix(7, 2, 2)});
    cases.good(op, {random_doubles(Shape{0, 3, 5}, -1, 1), random_doubles(Shape{0, 5, 3}, -1, 1)});
    cases.good(op, {random_doubles(Shape{2, 3, 0}, -1, 1), random_doubles(Shape{2, 0, 3}, -1, 1)});
    cases.bad(op, {box(), box()}, {}, "[2,3,5]");
    cases.bad(op, {one(), one()}, {}, "[]");
  }
  cases.good("BatchMatMulV2", {converted(random_doubles(Shape{9, 130, 77}, -1, 1, 1), DType::Float),
                               converted(matrix(77, 60, 2), DType::Float)});
  cases.bad("BatchMatMul", {box(), random_doubles(Shape{1, 5, 3}, -1, 1)}, {}, "[");
  cases.bad("BatchMatMulV2", {box(), random_doubles(Shape{3, 5, 3}, -1, 1)}, {}, "not broadcast");
}

void add_cumulative_cases(OpCases& cases, const std::string& op) {
  const Tensor box = random_doubles(Shape{3, 4, 5}, 1, 9), number = random_doubles(Shape{1}, 1, 9);
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      const Attributes attrs{{"exclusive", exclusive}, {"reverse", reverse}};
      // The first exclusive result is minus infinity, of which finite differences know nothing.
      const DType dtype = exclusive && op == "CumulativeLogsumexp" ? f32 : f64;
      for (const int32_t axis : {0, 1, 2, -1})
        cases.good(op, {converted(box, dtype), int_scalar(axis)}, attrs);
      cases.good(op, {converted(number, dtype), int_scalar(0)}, attrs);
    }
  cases.good_in_every_type(op, {random_doubles(Shape{3, 3}, 1, 2), int_scalar(1)});
  cases.good(op, {rows(0), int_scalar(0)});
  cases.good(op, {rows(0), int_scalar(1)});
  cases.good(op, {converted(random_doubles(Shape{7, 30001}, 0.9, 1.1), f32), int_scalar(0)});
  cases.good(op, {converted(random_doubles(Shape{3001, 70}, 0.9, 1.1), f32), int_scalar(1)});
  cases.bad(op, {box, int_scalar(3)}, {}, "axis 3 is outside [-3, 3)");
  cases.bad(op, {box, ints({0, 1})}, {}, "[2]");
  cases.bad(op, {one(), int_scalar(0)}, {}, "axis 0");
}

void add_segment_cases(OpCases& cases, const std::string& op) {
  const Tensor ids = ints({0, 0, 2});
  cases.good_in_every_type(op, {rows(3), ids});
  cases.good(op, {random_doubles(Shape{7}, 1, 9), ints({1, 1, 1, 2, 2, 5, 5})});
  cases.good(op, {random_doubles(Shape{3, 2, 2}, 1, 9), ids});
  cases.good(op, {rows(0), ints({})});
  cases.good(op, {random_doubles(Shape{3, 0}, 1, 9), ids});
  std::vector<int64_t> many(6000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int64_t>(i / 37);
  cases.good(op, {converted(random_doubles(Shape{6000, 33}, 1, 9), f32), Tensor::vector<int64_t>(many)});
  cases.bad(op, {rows(3), ints({0, 2, 1})}, {}, "segment_ids[2] = 1 is less than 2");
  cases.bad(op, {rows(3), ints({-1, 0, 1})}, {}, "segment_ids[0] = -1 is less than 0");
  cases.bad(op, {rows(3), Tensor::vector<int64_t>({0, 1, INT64_MAX})}, {},
            "segment_ids[2] = 9223372036854775807 is too large");
  cases.bad(op, {rows(3), Tensor::vector<int64_t>({0, int64_t{1} << 40, 1})}, {}, "segment_ids[2] = 1");
  cases.bad(op, {rows(3), ints({0, 1})}, {}, "3");
  cases.bad(op, {one(), ints({0})}, {}, "data is a scalar");
}

}  // namespace

void add_math_cases(OpCases& cases) {
  add_fused_cases(cases);
  add_cast_cases(cases);
  add_sum_cases(cases);
  add_elementwise_binary_cases(cases);
  add_elementwise_unary_cases(cases);
  add_reduction_cases(cases);
  add_product_cases(cases);
  for (const char* op : {"Cumsum", "Cumprod", "CumulativeLogsumexp"}) add_cumulative_cases(cases, op);
  for (const char* op : {"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"})
    add_segment_cases(cases, op);
}

}  // namespace troupe::test
