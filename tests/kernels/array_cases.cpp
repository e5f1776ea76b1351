// Samples of the ops that shape, join, cut, move and multiply tensors; their own tests look closer.
#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

Tensor box() { return random_doubles(Shape{2, 3, 5}, 1, 9, 31); }
Tensor none() { return random_doubles(Shape{0, 2}, 0, 1); }
Tensor one() { return doubles({}, {1}); }
Tensor longs(std::initializer_list<int64_t> values) { return Tensor::vector<int64_t>(values); }
Attributes number(const char* name, int64_t value) { return {{name, value}}; }

void add_shape_cases(OpCases& cases) {
  for (const char* op : {"Shape", "Size", "ShapeN", "Rank"}) {
    cases.good_in_every_type(op, {box()});
    for (const Tensor& tensor : {none(), one()}) cases.good(op, {tensor});
    cases.bad(op, {}, {}, op == std::string_view("ShapeN") ? "N is 0" : "got 0");
    if (op != std::string_view("Rank"))
      cases.bad(op, {box()}, {{"out_type", f32}}, "attribute out_type is float");
  }
  cases.good("ShapeN", {box(), box(), box()});
  cases.good_in_every_type("Reshape", {box(), ints({6, 5})});
  cases.good("Reshape", {box(), ints({5, -1})});
  cases.good("Reshape", {none(), ints({3, 0, 4})});
  cases.good("Reshape", {none(), ints({2, -1})});
  cases.good("Reshape", {one(), ints({1, 1})});
  cases.good("Reshape", {doubles(Shape{1}, {1}), ints({})});
  cases.bad("Reshape", {box(), ints({4, -1})}, {}, "30 elements cannot take shape [4,-1]");
  cases.bad("Reshape", {box(), ints({-1, -1})}, {}, "[-1,-1]");
  cases.good("Reshape", {none(), ints({0, -1})});
  cases.good("Reshape", {random_doubles(Shape{0, 6}, 0, 1), ints({0, -1, 3})});
  cases.bad("Reshape", {box(), ints({0, -1})}, {}, "30 elements cannot take shape [0,-1]");
  cases.good_in_every_type("ExpandDims", {box(), int_scalar(2)});
  cases.good("ExpandDims", {none(), int_scalar(-3)});
  cases.good("ExpandDims", {one(), int_scalar(0)});
  cases.bad("ExpandDims", {box(), int_scalar(4)}, {}, "axis 4 is outside [-4, 4)");
  cases.good_in_every_type("Squeeze", {box().reshaped(Shape{1, 6, 1, 5})});
  cases.good("Squeeze", {box().reshaped(Shape{1, 30, 1})}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
  for (const Tensor& tensor : {none(), one()}) cases.good("Squeeze", {tensor});
  cases.bad("Squeeze", {box()}, {{"squeeze_dims", std::vector<int64_t>{1}}}, "is not 1");
  cases.bad("Squeeze", {box()}, {{"squeeze_dims", std::vector<int64_t>{3}}}, "axis 3 is outside [-3, 3)");
}

void add_joining_cases(OpCases& cases) {
  const Tensor a = random_doubles(Shape{2, 3}, 1, 9, 1), b = random_doubles(Shape{2, 2}, 1, 9, 2),
               empty = random_doubles(Shape{2, 0}, 1, 9);
  cases.good_in_every_type("Concat", {int_scalar(1), a, b});
  cases.good("Concat", {int_scalar(-1), a, empty, b});
  cases.bad("Concat", {int_scalar(0), a, b}, {}, "differ in");
  cases.bad("Concat", {int_scalar(0), one(), one()}, {}, "a scalar has no axis 0");
  cases.good_in_every_type("ConcatV2", {a, b, a, int_scalar(1)});
  cases.good("ConcatV2", {empty, b, int_scalar(-1)});
  cases.good("ConcatV2", {empty, empty, int_scalar(0)});
  cases.bad("ConcatV2", {a, b, int_scalar(2)}, {}, "axis 2 is outside [-2, 2)");
  cases.bad("ConcatV2", {one(), one(), int_scalar(0)}, {}, "a scalar has no axis 0");
  cases.good_in_every_type("ConcatOffset", {int_scalar(1), ints({2, 1, 3, 4, 5}), ints({2, 5, 3, 4, 5})});
  cases.good("ConcatOffset", {int_scalar(-1), ints({2, 0}), ints({2, 5})});
  cases.bad("ConcatOffset", {int_scalar(1), ints({2, 1}), ints({3, 5})}, {},
            "differ in more than dimension 1");
  cases.bad("ConcatOffset", {int_scalar(0), ints({}), ints({})}, {}, "a scalar has no axis 0");
  cases.good_in_every_type("Pack", {a, a, a});
  cases.good("Pack", {a, a}, number("axis", 1));
  cases.good("Pack", {a}, number("axis", -1));
  cases.good("Pack", {none(), none()}, number("axis", 1));
  cases.good("Pack", {one(), doubles({}, {2})});
  cases.bad("Pack", {a, b}, {}, "[2,3]");
  cases.bad("Pack", {a, a}, number("axis", 3), "axis 3 is outside [-3, 3)");
  cases.good_in_every_type("Unpack", {box()}, {{"num", int64_t{3}}, {"axis", int64_t{1}}});
  cases.good("Unpack", {random_doubles(Shape{3, 0}, 0, 1)}, number("num", 3));
  cases.good("Unpack", {none()}, number("num", 0));
  cases.bad("Unpack", {box()}, {{"num", int64_t{4}}, {"axis", int64_t{1}}}, "4");
  cases.bad("Unpack", {one()}, number("num", 1), "a scalar has no axis 0");
  cases.good_in_every_type("Split", {int_scalar(1), box()}, number("num_split", 3));
  cases.good("Split", {int_scalar(0), none()}, number("num_split", 2));
  cases.good("Split", {int_scalar(-1), box()}, number("num_split", 1));
  cases.bad("Split", {int_scalar(1), box()}, number("num_split", 4), "4");
  cases.bad("Split", {int_scalar(0), one()}, number("num_split", 1), "a scalar has no axis 0");
  cases.good_in_every_type("SplitV", {box(), longs({1, 4}), int_scalar(2)}, number("num_split", 2));
  cases.good("SplitV", {box(), longs({-1, 0, 1}), int_scalar(0)}, number("num_split", 3));
  cases.good("SplitV", {none(), longs({0, 0}), int_scalar(0)}, number("num_split", 2));
  cases.bad("SplitV", {box(), longs({1, 1}), int_scalar(2)}, number("num_split", 2),
            "[1,1] do not add up to 5");
  cases.bad("SplitV", {box(), longs({-1, -1}), int_scalar(2)}, number("num_split", 2), "[-1,-1]");
}

void add_slicing_cases(OpCases& cases) {
  cases.good_in_every_type("Slice", {box(), ints({0, 1, 2}), ints({2, 2, 3})});
  cases.good("Slice", {box(), ints({1, 3, 0}), ints({-1, 0, -1})});
  cases.good("Slice", {one(), ints({}), ints({})});
  cases.good("Slice", {none(), ints({0, 1}), ints({-1, 1})});
  cases.bad("Slice", {box(), ints({0, 1, 2}), ints({2, 3, 1})}, {}, "3");
  cases.bad("Slice", {box(), ints({-1, 1, 2}), ints({1, 1, 1})}, {}, "-1");
  cases.good_in_every_type("Pad", {box(), ints(Shape{3, 2}, {0, 0, 1, 2, 0, 1})});
  cases.good("Pad", {one(), ints(Shape{0, 2}, {})});
  cases.good("Pad", {none(), ints(Shape{2, 2}, {1, 1, 0, 0})});
  cases.bad("Pad", {box(), ints(Shape{3, 2}, {0, 0, -1, 2, 0, 1})}, {}, "-1");
  cases.bad("Pad", {box(), ints(Shape{2, 2}, {0, 0, 1, 2})}, {}, "paddings");
  cases.good_in_every_type("StridedSlice", {box(), ints({0, 2, 4}), ints({2, 0, 1}), ints({1, -1, -2})});
  cases.good(
      "StridedSlice", {box(), ints({1, 2}), ints({2, 3}), ints({1, 1})},
      {{"shrink_axis_mask", int64_t{1}}, {"ellipsis_mask", int64_t{0}}, {"new_axis_mask", int64_t{2}}});
  cases.good("StridedSlice", {box(), ints({7, 1}), ints({7, 2}), ints({1, 1})}, number("ellipsis_mask", 1));
  cases.good("StridedSlice", {none(), ints({0}), ints({0}), ints({1})}, number("end_mask", 1));
  cases.good("StridedSlice", {one(), ints({0}), ints({0}), ints({1})}, number("new_axis_mask", 1));
  cases.bad("StridedSlice", {box(), ints({0}), ints({1}), ints({0})}, {}, "stride");
  cases.bad("StridedSlice", {box(), ints({2}), ints({3}), ints({1})}, number("shrink_axis_mask", 1), "2");
  const Tensor rows = random_doubles(Shape{1, 3, 5}, 1, 9);
  cases.good_in_every_type("StridedSliceGrad", {ints({2, 3, 5}), ints({1}), ints({2}), ints({1}), rows});
  cases.good("StridedSliceGrad", {ints({}), ints({}), ints({}), ints({}), one()});
  cases.good("StridedSliceGrad", {ints({3, 2}), ints({1}), ints({1}), ints({1}), none()});
  cases.bad("StridedSliceGrad", {ints({2, 3, 5}), ints({0}), ints({2}), ints({1}), rows}, {}, "[1,3,5]");
}

void add_axis_gather_cases(OpCases& cases) {
  const Tensor some = ints(Shape{2, 2}, {1, 0, 2, 1});
  cases.good_in_every_type("GatherV2", {box(), some, int_scalar(1)});
  for (const int32_t axis : {1, 2, -1, -2}) cases.good("GatherV2", {box(), some, int_scalar(axis)});
  for (const int32_t axis : {0, -3}) cases.good("GatherV2", {box(), ints({1, 0, 1}), int_scalar(axis)});
  cases.good("GatherV2", {box(), int_scalar(2), int_scalar(1)});
  cases.good("GatherV2", {box(), ints({}), int_scalar(2)});
  cases.good("GatherV2", {none(), ints({1, 0, 1}), int_scalar(1)});
  cases.good("GatherV2", {random_doubles(Shape{300, 7, 3}, 0, 1), ints({6, 0, 6, 2}), int_scalar(1)});
  for (const int32_t axis : {1, 2, -1}) {
    cases.good("GatherV2", {box(), some, int_scalar(axis)}, number("batch_dims", 1));
    cases.good("GatherV2", {box(), some, int_scalar(axis)}, number("batch_dims", -1));
  }
  cases.good("GatherV2", {box(), ints(Shape{2, 3}, {4, 0, 1, 2, 4, 3}), int_scalar(2)},
             number("batch_dims", 2));
  cases.good("GatherV2", {strings({"a", "b"}), ints(Shape{1, 2}, {1, 0}), int_scalar(-1)});
  cases.bad("GatherV2", {box(), some, int_scalar(0)}, {}, "indices[1,0] = 2 is not in [0, 2)");
  cases.bad("GatherV2", {box(), some, int_scalar(3)}, {}, "axis 3 is outside [-3, 3)");
  cases.bad("GatherV2", {one(), some, int_scalar(0)}, {}, "params is a scalar");
  cases.bad("GatherV2", {box(), some, int_scalar(0)}, number("batch_dims", 1),
            "batch_dims 1 is more than axis 0");
  cases.bad("GatherV2", {box(), some, int_scalar(2)}, number("batch_dims", 3),
            "batch_dims 3 is outside [-2, 2]");
  cases.bad("GatherV2", {box(), ints(Shape{3, 1}, {0, 0, 0}), int_scalar(1)}, number("batch_dims", 1),
            "differ in batch dimension 0");
}

void add_moving_cases(OpCases& cases) {
  cases.good_in_every_type("Tile", {box(), ints({1, 2, 3})});
  cases.good("Tile", {box(), ints({1, 0, 3})});
  cases.good("Tile", {none(), ints({2, 2})});
  cases.good("Tile", {one(), ints({})});
  cases.bad("Tile", {box(), ints({1, 2})}, {}, "multiples");
  cases.bad("Tile", {box(), ints({1, 2, -1})}, {}, "-1");
  cases.good_in_every_type("Transpose", {box(), ints({2, 0, 1})});
  cases.good("Transpose", {none(), ints({1, 0})});
  cases.good("Transpose", {one(), ints({})});
  cases.bad("Transpose", {box(), ints({2, 0, 0})}, {}, "[2,0,0] is not a permutation: element 2 is 0");
  cases.bad("Transpose", {box(), ints({2, 0})}, {}, "perm");
  cases.bad("Transpose", {box(), ints({3, 0, 1})}, {}, "3");
  cases.good_in_every_type("InvertPermutation", {ints({2, 0, 1, 4, 3})});
  cases.good("InvertPermutation", {ints({})});
  cases.bad("InvertPermutation", {ints({2, 0, 0})}, {}, "[2,0,0] is not a permutation: element 2 is 0");
  cases.bad("InvertPermutation", {ints({0, -1})}, {}, "-1");
  cases.bad("InvertPermutation", {int_scalar(0)}, {}, "x of shape []");
  for (const bool validate : {false, true})
    cases.good_in_every_type("Gather", {box(), ints(Shape{2, 2}, {1, 0, 1, 1})},
                             {{"validate_indices", validate}});
  cases.good("Gather", {box(), ints({})});
  cases.good("Gather", {none(), ints({})});
  cases.good("Gather", {box(), int_scalar(1)});
  cases.bad("Gather", {box(), ints({0, 2})}, {}, "indices[1] = 2 is not in [0, 2)");
  cases.bad("Gather", {box(), ints({0, -1})}, {}, "indices[1] = -1 is not in [0, 2)");
  cases.bad("Gather", {none(), ints({0})}, {}, "indices[0] = 0 is not in [0, 0)");
  cases.bad("Gather", {box(), int_scalar(5)}, {}, "indices = 5 is not in [0, 2)");
  cases.bad("Gather", {box(), ints(Shape{2, 2}, {1, 0, 9, 1})}, {}, "indices[1,0] = 9 is not in [0, 2)");
  cases.bad("Gather", {one(), ints({0})}, {}, "params is a scalar");
  add_axis_gather_cases(cases);
  cases.good_in_every_type("UnsortedSegmentSum", {box(), ints({1, 1}), int_scalar(3)});
  cases.good("UnsortedSegmentSum", {box(), ints(Shape{2, 3}, {1, 1, 0, 0, 2, 0}), int_scalar(3)});
  cases.good("UnsortedSegmentSum", {none(), ints({}), int_scalar(2)});
  cases.good("UnsortedSegmentSum", {one(), int_scalar(0), int_scalar(1)});
  cases.bad("UnsortedSegmentSum", {box(), ints({1, 3}), int_scalar(3)}, {},
            "segment_ids[1] = 3 is not below num_segments 3");
  cases.bad("UnsortedSegmentSum", {box(), ints(Shape{2, 3}, {0, 1, 2, -1, 3, 0}), int_scalar(3)}, {},
            "segment_ids[1,1] = 3 is not below");
  cases.good("UnsortedSegmentSum", {box(), ints({-1, 0}), int_scalar(3)});
  cases.good("UnsortedSegmentSum", {box(), ints(Shape{2, 3}, {0, -1, 1, 1, -7, 0}), int_scalar(2)});
  cases.bad("UnsortedSegmentSum", {box(), ints({1, 1, 1}), int_scalar(3)}, {}, "[3]");
  cases.bad("UnsortedSegmentSum", {box(), ints({1, 1}), int_scalar(-1)}, {}, "-1");
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

}  // namespace

void add_array_cases(OpCases& cases) {
  add_shape_cases(cases);
  add_joining_cases(cases);
  add_slicing_cases(cases);
  add_moving_cases(cases);
  add_product_cases(cases);
}

}  // namespace troupe::test
