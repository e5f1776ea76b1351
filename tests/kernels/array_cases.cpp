// Samples of the ops that make, move and multiply tensors; their own tests look closer.
#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

Tensor box() { return random_doubles(Shape::of({2, 3, 4}), -1, 1, 31); }
Tensor longs(std::initializer_list<int64_t> values) { return Tensor::vector<int64_t>(values); }

void add_source_cases(OpCases& cases) {
  cases.good("Const", {}, {{"value", box()}, {"dtype", f64}});
  cases.bad("Const", {}, {{"value", box()}, {"dtype", f32}}, "value is double[2,3,4], dtype is float");
  cases.good("PlaceholderWithDefault", {box()}, {{"shape", PartialShape{-1, 3, -1}}});
  cases.bad("PlaceholderWithDefault", {box()}, {{"shape", PartialShape{3}}}, "");
  cases.good("Fill", {ints({2, 3}), doubles({}, {7})});
  cases.good("Fill", {ints({}), strings({"a"}).reshaped(Shape())});
  cases.bad("Fill", {ints({2, -1}), doubles({}, {7})}, {}, "-1");
  cases.good("NoOp", {});
  cases.bad("NoOp", {box()}, {}, "takes 0 inputs, got 1");
  for (const char* op : {"Identity", "StopGradient", "PreventGradient"}) {
    cases.good(op, {box()});
    cases.bad(op, {}, {}, "takes 1 inputs, got 0");
  }
  const Attributes message = {{"message", "here"}};
  cases.good("CheckNumerics", {box()}, message);
  cases.bad("CheckNumerics", {floats(Shape::of({2}), {1, INFINITY})}, message,
            "here : Tensor had Inf values");
  cases.good("Range", {ints({2}).reshaped({}), ints({11}).reshaped({}), ints({3}).reshaped({})});
  cases.bad("Range", {int_scalar(0), int_scalar(1), int_scalar(0)}, {}, "");
  cases.good("LinSpace", {floats({}, {0}), floats({}, {1}), int_scalar(5)});
  cases.bad("LinSpace", {floats({}, {0}), floats({}, {1}), int_scalar(0)}, {}, "");
}

void add_shape_cases(OpCases& cases) {
  for (const char* op : {"Shape", "Size", "ShapeN"}) {
    cases.good(op, {box()});
    cases.good(op, {floats(Shape::of({0, 2}), {})}, {{"out_type", i64}});
    cases.bad(op, {box()}, {{"out_type", f32}}, "attribute out_type is float");
  }
  cases.good("Rank", {box()});
  cases.bad("Rank", {}, {}, "takes 1 inputs, got 0");
  cases.good("Reshape", {box(), ints({4, -1})});
  cases.bad("Reshape", {box(), ints({5, -1})}, {}, "24 elements cannot take shape [5,-1]");
  cases.good("ExpandDims", {box(), int_scalar(-2)});
  cases.bad("ExpandDims", {box(), int_scalar(4)}, {}, "axis 4 is outside [-4, 4)");
  cases.good("Squeeze", {random_doubles(Shape::of({1, 3, 1}), -1, 1)});
  cases.bad("Squeeze", {box()}, {{"squeeze_dims", std::vector<int64_t>{1}}}, "is not 1");
}

void add_joining_cases(OpCases& cases) {
  const Tensor a = random_doubles(Shape::of({2, 3}), -1, 1, 1),
               b = random_doubles(Shape::of({2, 2}), -1, 1, 2);
  cases.good("Concat", {int_scalar(1), a, b});
  cases.bad("Concat", {int_scalar(0), a, b}, {}, "differ in");
  cases.good("ConcatV2", {a, b, a, int_scalar(-1)});
  cases.bad("ConcatV2", {a, b, int_scalar(2)}, {}, "axis 2 is outside [-2, 2)");
  cases.good("ConcatOffset", {int_scalar(1), ints({2, 1}), ints({2, 5})});
  cases.bad("ConcatOffset", {int_scalar(1), ints({2, 1}), ints({3, 5})}, {},
            "differ in more than dimension 1");
  cases.good("Pack", {a, a}, {{"axis", int64_t{1}}});
  cases.bad("Pack", {a, b}, {}, "");
  cases.good("Unpack", {box()}, {{"num", int64_t{3}}, {"axis", int64_t{1}}});
  cases.bad("Unpack", {box()}, {{"num", int64_t{4}}, {"axis", int64_t{1}}}, "");
  cases.good("Split", {int_scalar(1), random_doubles(Shape::of({2, 6}), -1, 1)}, {{"num_split", int64_t{3}}});
  cases.bad("Split", {int_scalar(1), random_doubles(Shape::of({2, 6}), -1, 1)}, {{"num_split", int64_t{4}}},
            "");
  cases.good("SplitV", {box(), longs({1, -1}), int_scalar(2)}, {{"num_split", int64_t{2}}});
  cases.bad("SplitV", {box(), longs({1, 1}), int_scalar(2)}, {{"num_split", int64_t{2}}}, "");
}

void add_moving_cases(OpCases& cases) {
  cases.good("Slice", {box(), ints({0, 1, 2}), ints({2, 2, -1})});
  cases.bad("Slice", {box(), ints({0, 1, 2}), ints({2, 3, 1})}, {}, "");
  cases.good("Pad", {box(), ints(Shape::of({3, 2}), {0, 0, 1, 2, 0, 1})});
  cases.bad("Pad", {box(), ints(Shape::of({3, 2}), {0, 0, -1, 2, 0, 1})}, {}, "");
  cases.good("Tile", {box(), ints({1, 2, 3})});
  cases.bad("Tile", {box(), ints({1, 2})}, {}, "");
  cases.good("Transpose", {box(), ints({2, 0, 1})});
  cases.bad("Transpose", {box(), ints({2, 0, 0})}, {}, "");
  cases.good("InvertPermutation", {ints({2, 0, 1})});
  cases.bad("InvertPermutation", {ints({2, 0, 0})}, {}, "");
  cases.good("StridedSlice", {box(), ints({0, -1, 3}), ints({2, 0, 0}), ints({1, -1, -2})});
  cases.bad("StridedSlice", {box(), ints({0}), ints({1}), ints({0})}, {}, "");
  const Tensor rows = random_doubles(Shape::of({1, 3, 4}), -1, 1);
  cases.good("StridedSliceGrad", {ints({2, 3, 4}), ints({1}), ints({2}), ints({1}), rows});
  cases.bad("StridedSliceGrad", {ints({2, 3, 4}), ints({0}), ints({2}), ints({1}), rows}, {}, "");
  cases.good("Gather", {box(), ints(Shape::of({2, 2}), {1, 0, 1, 1})});
  cases.bad("Gather", {box(), ints({0, 2})}, {}, "2");
  cases.good("UnsortedSegmentSum", {box(), ints({1, 1}), int_scalar(3)});
  cases.bad("UnsortedSegmentSum", {box(), ints({1, 3}), int_scalar(3)}, {}, "3");
}

void add_random_cases(OpCases& cases) {
  const Attributes seeded = {{"seed", int64_t{3}}, {"dtype", f32}};
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    cases.good(op, {ints({3, 70001})}, seeded);
    cases.bad(op, {ints({3, -1})}, seeded, "-1");
  }
  const Attributes seed = {{"seed", int64_t{3}}};
  cases.good("RandomUniformInt", {ints({70001}), int_scalar(-5), int_scalar(9)}, seed);
  cases.bad("RandomUniformInt", {ints({3}), int_scalar(9), int_scalar(9)}, seed, "9");
  cases.good("RandomShuffle", {random_doubles(Shape::of({101, 3}), 0, 1)}, seed);
  cases.bad("RandomShuffle", {}, seed, "takes 1 inputs, got 0");
}

void add_product_cases(OpCases& cases) {
  const auto matrix = [](int64_t rows, int64_t columns, uint64_t seed) {
    return random_doubles(Shape::of({rows, columns}), -1, 1, seed);
  };
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      cases.good("MatMul", {a ? matrix(5, 3, 1) : matrix(3, 5, 1), b ? matrix(4, 5, 2) : matrix(5, 4, 2)},
                 {{"transpose_a", a}, {"transpose_b", b}});
  cases.good("MatMul",
             {converted(matrix(301, 203, 1), DType::Float), converted(matrix(203, 101, 2), DType::Float)});
  cases.good("MatMul", {matrix(0, 3, 1), matrix(3, 2, 1)});
  cases.good("MatMul", {matrix(2, 0, 1), matrix(0, 3, 1)});
  cases.bad("MatMul", {matrix(2, 3, 1), matrix(4, 5, 1)}, {}, "[2,3]");
  for (const bool x : {false, true})
    cases.good("BatchMatMul",
               {random_doubles(x ? Shape::of({2, 4, 3}) : Shape::of({2, 3, 4}), -1, 1),
                random_doubles(Shape::of({2, 4, 2}), -1, 1)},
               {{"adj_x", x}});
  cases.bad("BatchMatMul", {box(), box()}, {}, "");
}

}  // namespace

void add_array_cases(OpCases& cases) {
  add_source_cases(cases);
  add_shape_cases(cases);
  add_joining_cases(cases);
  add_moving_cases(cases);
  add_random_cases(cases);
  add_product_cases(cases);
}

}  // namespace troupe::test
