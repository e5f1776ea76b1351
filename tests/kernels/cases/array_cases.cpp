// Samples of the ops of kernels/ops/array.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor box() { return random_doubles(Shape{2, 3, 5}, 1, 9, 31); }
Tensor none() { return random_doubles(Shape{0, 2}, 0, 1); }
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
  cases.bad("Reshape", {box(), ints({4, -1})}, {}, "30 elements cannot be reshaped to [4,-1]");
  cases.bad("Reshape", {box(), ints({-1, -1})}, {}, "[-1,-1]");
  cases.good("Reshape", {none(), ints({0, -1})});
  cases.good("Reshape", {random_doubles(Shape{0, 6}, 0, 1), ints({0, -1, 3})});
  cases.bad("Reshape", {box(), ints({0, -1})}, {}, "30 elements cannot be reshaped to [0,-1]");
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
  const Tensor row = random_doubles(Shape{1, 3}, 1, 9), other = random_doubles(Shape{1, 3}, 1, 9, 2);
  const auto shaped = [](PartialShape shape) { return Attributes{{"shape", std::move(shape)}}; };
  cases.good_in_every_type("ParallelConcat", {row, other, row}, shaped({3, 3}));
  cases.good("ParallelConcat", {row}, shaped({1, 3}));
  cases.good("ParallelConcat", {random_doubles(Shape{1, 5, 7}, 0, 1)}, shaped({1, 5, 7}));
  cases.good("ParallelConcat", {random_doubles(Shape{1, 0}, 0, 1)}, shaped({1, 0}));
  cases.bad("ParallelConcat", {row, other}, shaped({3, 3}), "the attribute shape is [3,3]");
  cases.bad("ParallelConcat", {row, other}, shaped(PartialShape::scalar()), "the attribute shape is []");
  cases.bad("ParallelConcat", {row, a}, shaped({2, 3}), "3");
  cases.bad("ParallelConcat", {one(), one()}, shaped({2}), "");
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
  cases.good_in_every_type("ConjugateTranspose", {box(), ints({2, 0, 1})});
  cases.good("ConjugateTranspose", {none(), ints({1, 0})});
  cases.good("ConjugateTranspose", {one(), ints({})});
  cases.bad("ConjugateTranspose", {box(), ints({2, 0, 0})}, {}, "[2,0,0] is not a permutation");
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
  for (const char* op :
       {"UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"}) {
    cases.good_in_every_type(op, {box(), ints({1, 0}), int_scalar(2)});
    cases.good(op, {converted(box(), DType::Float), ints({1, 1}), int_scalar(3)});
    cases.good(op, {box(), ints(Shape{2, 3}, {1, 1, 0, 0, 2, 0}), int_scalar(3)});
    cases.good(op, {none(), ints({}), int_scalar(2)});
    cases.good(op, {one(), int_scalar(0), int_scalar(1)});
    cases.bad(op, {box(), ints({1, 3}), int_scalar(3)}, {}, "segment_ids[1] = 3 is not below num_segments 3");
    cases.bad(op, {box(), ints(Shape{2, 3}, {0, 1, 2, -1, 3, 0}), int_scalar(3)}, {},
              "segment_ids[1,1] = 3 is not below");
    cases.good(op, {converted(box(), DType::Float), ints({-1, 0}), int_scalar(3)});
    cases.good(op, {box(), ints({-1, 0}), int_scalar(1)});
    cases.good(op, {box(), ints(Shape{2, 3}, {0, -1, 1, 1, -7, 0}), int_scalar(2)});
    cases.bad(op, {box(), ints({1, 1, 1}), int_scalar(3)}, {}, "[3]");
    cases.bad(op, {box(), ints({1, 1}), int_scalar(-1)}, {}, "-1");
  }
  cases.good("UnsortedSegmentProd",
             {doubles(Shape{6}, {0, 2, 3, 4, 0, 0}), ints({0, 0, 1, 1, 2, 2}), int_scalar(3)});
}

void add_partition_cases(OpCases& cases) {
  const Attributes three{{"num_partitions", int64_t{3}}};
  cases.good_in_every_type("DynamicPartition", {rows(3), ints({2, 0, 2})}, three);
  cases.good("DynamicPartition",
             {rows(4), ints(Shape{4, 5}, {0, 1, 2, 0, 0, 1, 1, 1, 1, 1, 2, 2, 0, 1, 0, 1, 2, 0, 1, 2})},
             three);
  cases.good("DynamicPartition", {rows(0), ints({})}, three);
  cases.good("DynamicPartition", {one(), int_scalar(1)}, three);
  cases.good("DynamicPartition", {random_doubles(Shape{3, 0}, 0, 1), ints({0, 1, 2})}, three);
  cases.bad("DynamicPartition", {rows(2), ints({0, 3})}, three, "partitions[1] = 3 is not in [0, 3)");
  cases.bad("DynamicPartition", {rows(2), ints({-1, 0})}, three, "partitions[0] = -1 is not in [0, 3)");
  cases.bad("DynamicPartition", {rows(2), ints({0, 1, 2})}, three,
            "partitions has shape [3] and data has shape [2,5]");
  cases.bad("DynamicPartition", {one(), ints({0})}, three, "partitions has shape [1] and data has shape []");
  cases.bad("DynamicPartition", {rows(2), ints({0, 0})}, {{"num_partitions", int64_t{0}}},
            "num_partitions is 0");
}

void add_stitch_cases(OpCases& cases, const std::string& op) {
  cases.good_in_every_type(op, {ints({3, 0}), ints({1}), rows(2, 1), rows(1, 2)});  // no row 2
  cases.good(op, {int_scalar(2), ints(Shape{1, 2}, {0, 1}), one(5), random_doubles(Shape{1, 2}, 1, 9)});
  cases.good(op, {ints({}), rows(0)});
  cases.good(op, {ints({}), ints({1}), rows(0), rows(1)});
  cases.good(op, {ints({1}), random_doubles(Shape{1, 0}, 0, 1)});
  cases.good(op, {ints({1, 0, 1}), ints({1}), converted(rows(3, 1), f32), converted(rows(1, 2), f32)});
  cases.bad(op, {ints({0, -1}), rows(2)}, {}, "indices[0][1] = -1 is not in");
  cases.bad(op, {ints({0, 1}), rows(3)}, {}, "indices has shape [2] and data has shape [3,5]");
  cases.bad(op, {ints({0}), one()}, {}, "indices has shape [1] and data has shape []");
  cases.bad(op, {ints({0}), ints({1}), rows(1), random_doubles(Shape{1, 4}, 0, 1)}, {}, "4");
}

void add_resource_cases(OpCases& cases) {
  for (const bool validate : {false, true})
    cases.good_in_every_type("ResourceGather", {rows(3), ints(Shape{2, 2}, {1, 0, 2, 1})},
                             {{"validate_indices", validate}, {"dtype", f64}});
  const Attributes type{{"dtype", f64}};
  cases.good("ResourceGather", {rows(3), int_scalar(1)}, type);
  cases.good("ResourceGather", {rows(3), ints(Shape{3, 2}, {0, 4, 1, 1, 2, 3})},
             {{"dtype", f64}, {"batch_dims", int64_t{1}}});
  cases.good("ResourceGather", {rows(0), ints({})}, type);
  cases.bad("ResourceGather", {rows(3), ints({0, 3})}, type, "indices[1] = 3 is not in [0, 3)");
  cases.bad("ResourceGather", {one(), ints({0})}, type, "params is a scalar");
  cases.good_in_every_type("ResourceGatherNd", {rows(3), ints(Shape{2, 2}, {1, 0, 2, 1})}, type);
  cases.good("ResourceGatherNd", {rows(3), ints({2})}, type);
  cases.good("ResourceGatherNd", {rows(0), ints(Shape{0, 1}, {})}, type);
  cases.bad("ResourceGatherNd", {rows(3), ints(Shape{2, 1}, {0, 3})}, type, "3");
  cases.bad("ResourceGatherNd", {rows(3), int_scalar(0)}, type, "");
  cases.good_in_every_type("VariableShape", {rows(3)});
  for (const Tensor& variable : {rows(0), one()}) cases.good("VariableShape", {variable});
  cases.bad("VariableShape", {rows(3)}, {{"out_type", f32}}, "attribute out_type is float");
}

void add_one_hot_cases(OpCases& cases) {
  const Tensor indices = ints({2, 0, 3, -1, 1}), depth = int_scalar(3);
  cases.good_in_every_type("OneHot", {ints({1, 2, 0}), int_scalar(3), one(7), one(2)});
  for (const int64_t axis : {-1, 0, 1}) {
    cases.good("OneHot", {ints(Shape{2, 3}, {0, 1, 2, 2, 5, -3}), depth, one(7), one(2)}, {{"axis", axis}});
    cases.good("OneHot", {ints(Shape{0, 3}, {}), depth, one(7), one(2)}, {{"axis", axis}});
  }
  cases.good("OneHot", {indices, int_scalar(0), one(7), one(2)});
  cases.good("OneHot", {int_scalar(1), depth, one(7), one(2)});
  cases.good("OneHot", {indices, depth, converted(one(7), DType::String), converted(one(2), DType::String)});
  cases.bad("OneHot", {indices, int_scalar(-1), one(7), one(2)}, {}, "depth is -1");
  cases.bad("OneHot", {indices, depth, rows(1), one(2)}, {}, "[1,5]");
  cases.bad("OneHot", {indices, depth, one(7), one(2)}, {{"axis", int64_t{2}}}, "axis 2 is outside [-2, 2)");
}

void add_position_cases(OpCases& cases) {
  cases.good_in_every_type("Where", {doubles(Shape{2, 2, 3}, {0, 1, 0, 0, 2, 3, 4, 0, 0, 0, 0, 5})});
  for (const Tensor& none : {rows(0), one(0), one(1), doubles(Shape{5}, {0, 0, 0, 0, 0})})
    cases.good("Where", {none});
  cases.good("Where", {converted(random_doubles(Shape{90, 2001}, -2, 2), i32)});
  cases.bad("Where", {strings({"a"})}, {}, "T is string");
  const Tensor box = random_doubles(Shape{3, 3, 5}, 1, 9);
  cases.good_in_every_type("ReverseV2", {box, ints({0, -1})});
  for (const Tensor& axes : {ints({}), ints({1}), ints({0, 1, 2})}) cases.good("ReverseV2", {box, axes});
  cases.good("ReverseV2", {rows(0), ints({0})});
  cases.good("ReverseV2", {one(), ints({})});
  cases.bad("ReverseV2", {box, ints({0, -3})}, {}, "axis 0 is named twice");
  cases.bad("ReverseV2", {box, ints({3})}, {}, "axis 3 is outside [-3, 3)");
  cases.bad("ReverseV2", {box, int_scalar(0)}, {}, "[]");
  cases.good_in_every_type("Reverse", {box, bools(Shape{3}, {true, false, true})});
  cases.good("Reverse", {rows(0), bools(Shape{2}, {true, true})});
  cases.good("Reverse", {one(), bools(Shape{0}, {})});
  cases.bad("Reverse", {box, bools(Shape{2}, {true, false})}, {},
            "dims has shape [2] and tensor has shape [3,3,5]");
  cases.bad("Reverse", {box, bools(Shape{3, 1}, {true, false, true})}, {}, "[3,1]");
}

void add_roll_cases(OpCases& cases) {
  const Tensor box = random_doubles(Shape{3, 3, 5}, 1, 9);
  cases.good_in_every_type("Roll", {box, ints({1, -2}), ints({0, -1})});
  cases.good("Roll", {box, int_scalar(7), int_scalar(1)});
  cases.good("Roll", {box, ints({1, 1, 4}), ints({2, 2, 2})});
  cases.good("Roll", {converted(box, f32), longs({INT64_MAX, INT64_MIN}), ints({0, 2})});
  cases.good("Roll", {box, ints({}), ints({})});
  cases.good("Roll", {rows(0), ints({3}), ints({0})});
  cases.bad("Roll", {one(), int_scalar(1), int_scalar(0)}, {}, "input is a scalar");
  cases.bad("Roll", {box, int_scalar(1), int_scalar(3)}, {}, "axis 3 is outside [-3, 3)");
  cases.bad("Roll", {box, ints({1, 2}), ints({0})}, {}, "");
  cases.bad("Roll", {box, ints(Shape{1, 1}, {1}), ints(Shape{1, 1}, {0})}, {},
            "[1,1]; they must be scalars or vectors");
}

void add_gather_nd_cases(OpCases& cases) {
  const Tensor box = random_doubles(Shape{2, 3, 5}, 1, 9), pairs = ints(Shape{3, 2}, {1, 2, 0, 0, 1, 2});
  cases.good_in_every_type("GatherNd", {box, pairs});
  for (const Tensor& indices :
       {ints(Shape{2, 1}, {1, 1}), ints({1, 0, 4}), ints({1}), ints(Shape{1, 2, 0}, {}),
        ints(Shape{0, 2}, {}), ints(Shape{1, 1, 3}, {1, 2, 4})})
    cases.good("GatherNd", {box, indices});
  cases.good("GatherNd", {one(), ints(Shape{2, 0}, {})});
  cases.good("GatherNd", {rows(0), ints(Shape{0, 1}, {})});
  cases.bad("GatherNd", {box, ints(Shape{2, 2}, {0, 0, 1, 3})}, {},
            "indices[1] = [1,3] is outside the dimensions [2,3]");
  cases.bad("GatherNd", {box, ints(Shape{1, 1}, {-1})}, {},
            "indices[0] = [-1] is outside the dimensions [2]");
  cases.bad("GatherNd", {box, int_scalar(1)}, {}, "indices is a scalar");
  cases.bad("GatherNd", {one(), ints(Shape{1, 1}, {0})}, {},
            "indices has shape [1,1] and the tensor has shape []");

  const Tensor updates = rows(3), shape = ints({2, 3, 5});
  cases.good_in_every_type("ScatterNd", {pairs, updates, shape});
  cases.good("ScatterNd", {ints(Shape{2, 1}, {2, 2}), random_doubles(Shape{2}, 1, 9), ints({3})});
  cases.good("ScatterNd", {ints({1, 1}), one(), ints({3, 2})});
  cases.good("ScatterNd", {ints(Shape{2, 0}, {}), rows(2), ints({5})});
  cases.good("ScatterNd", {ints(Shape{0, 1}, {}), rows(0), ints({3, 5})});
  cases.good("ScatterNd", {converted(random_doubles(Shape{5000, 1}, 0, 61), i32),
                           converted(random_doubles(Shape{5000, 33}, 1, 9), f32), ints({61, 33})});
  cases.bad("ScatterNd", {pairs, updates, ints({2, 2, 5})}, {},
            "indices[0] = [1,2] is outside the dimensions [2,2]");
  cases.bad("ScatterNd", {pairs, updates, ints({2, 3, 4})}, {}, "4]");
  cases.bad("ScatterNd", {pairs, updates, ints({2, -3, 5})}, {}, "-3");
  cases.bad("ScatterNd", {pairs, updates, ints({2})}, {},
            "indices has shape [3,2] and the tensor has shape [");
}

void add_select_cases(OpCases& cases) {
  const Tensor a = random_doubles(Shape{3, 2}, 0, 1, 1), b = random_doubles(Shape{3, 2}, 0, 1, 2);
  cases.good("Select", {bools(Shape{3, 2}, {true, false, false, true, true, false}), a, b});
  cases.good("Select", {bools(Shape{3}, {true, false, true}), a, b});
  cases.good("Select", {bools({}, {false}), a, b});
  cases.good("Select", {bools(Shape{2}, {false, true}), strings({"a", "b"}), strings({"c", "d"})});
  cases.good("Select", {bools(Shape{0}, {}), floats(Shape{0, 2}, {}), floats(Shape{0, 2}, {})});
  cases.good_in_every_type("Select", {bools(Shape{3}, {true, false, true}), a, b});
  cases.bad("Select", {bools(Shape{2}, {true, false}), a, b}, {}, "[2]");
  cases.bad("Select", {bools({}, {true}), a, random_doubles(Shape{2, 3}, 0, 1)}, {}, "[2,3]");
  cases.bad("Select", {ints({1}), a, b}, {}, "input condition is int32, expected bool");
}

void add_select_v2_cases(OpCases& cases) {
  const Tensor condition = bools(Shape{3, 1, 1}, {true, false, true}), some = bools(Shape{2}, {false, true});
  const Tensor box = random_doubles(Shape{3, 5, 2}, 1, 9, 1), other = random_doubles(Shape{3, 5, 2}, 1, 9, 2),
               column = random_doubles(Shape{5, 1}, 1, 9, 3), number = doubles({}, {7});
  for (const Tensor& holds : {condition, some, bools({}, {true}), bools({}, {false})}) {
    for (const Tensor& t : {box, column, number})
      for (const Tensor& e : {other, column, number}) cases.good("SelectV2", {holds, t, e});
  }
  cases.good_in_every_type("SelectV2", {condition, box, column});
  cases.good_in_every_type("SelectV2", {some, box, number});
  cases.good("SelectV2", {bools(Shape{0}, {}), number, number});
  cases.good("SelectV2", {bools(Shape{2, 1}, {true, false}), random_doubles(Shape{1, 0}, 0, 1), number});
  cases.bad("SelectV2", {some, random_doubles(Shape{3}, 0, 1), number}, {}, "not broadcast");
  cases.bad("SelectV2", {bools({}, {true}), box, random_doubles(Shape{3}, 0, 1)}, {}, "not broadcast");
  cases.bad("SelectV2", {ints({1}), box, other}, {}, "input condition is int32, expected bool");
}

void add_unique_cases(OpCases& cases) {
  cases.good_in_every_type("Unique", {doubles(Shape{7}, {3, 1, 3, 2, 1, 1, 9})});
  cases.good("Unique", {strings({"b", "a", "b"})}, {{"out_idx", i64}});
  cases.good("Unique", {doubles(Shape{0}, {})});
  cases.bad("Unique", {doubles({}, {1})}, {}, "[]");
  cases.bad("Unique", {doubles(Shape{1, 2}, {1, 2})}, {}, "[1,2]");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  cases.good("Unique", {doubles(Shape{5}, {nan, -0.0, nan, 0.0, 1})});
  cases.good("Unique", {converted(random_doubles(Shape{5001}, 0, 999), i32)});
  cases.good_in_every_type("UniqueWithCounts", {doubles(Shape{7}, {3, 1, 3, 2, 1, 1, 9})});
  cases.good("UniqueWithCounts", {doubles(Shape{0}, {})});
  cases.bad("UniqueWithCounts", {doubles({}, {1})}, {}, "[]");
  const Tensor rows = doubles(Shape{3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4});
  for (const char* op : {"UniqueV2", "UniqueWithCountsV2"}) {
    cases.good_in_every_type(op, {rows, longs({0})});
    cases.good(op, {rows, ints({-1})}, {{"out_idx", i64}});
    cases.good(op, {doubles(Shape{4}, {3, 1, 3, nan}), longs({})});
    cases.good(op, {doubles(Shape{2, 3}, {nan, 1, nan, 2, 1, 2}), longs({1})});
    cases.good(op, {doubles(Shape{0, 2}, {}), longs({0})});
    cases.good(op, {doubles(Shape{2, 0}, {}), longs({0})});
    cases.bad(op, {rows, longs({})}, {}, "x has rank 3 and no axis is given, so it must be a vector");
    cases.bad(op, {rows, longs({0, 1})}, {}, "axis has 2 elements; it must have one or none");
    cases.bad(op, {rows, longs({3})}, {}, "axis 3");
    cases.bad(op, {rows, Tensor::scalar<int64_t>(0)}, {}, "");
  }
  const Tensor some = doubles(Shape{3}, {1, 9, 4});
  cases.good_in_every_type("ListDiff", {doubles(Shape{7}, {3, 1, 3, 2, 1, 1, 9}), some});
  cases.good("ListDiff", {doubles(Shape{0}, {}), some});
  cases.good("ListDiff", {some, doubles(Shape{0}, {})});
  cases.good("ListDiff", {doubles(Shape{5}, {nan, -0.0, nan, 7, 1}), doubles(Shape{2}, {nan, 0.0})});
  cases.bad("ListDiff", {doubles({}, {1}), some}, {}, "[]");
  cases.bad("ListDiff", {some, doubles(Shape{1, 2}, {1, 2})}, {}, "[1,2]");
}

void add_like_cases(OpCases& cases) {
  const Tensor x = random_doubles(Shape{2, 3}, -1, 1, 1);
  const Tensor large = converted(random_doubles(Shape{150000}, -1, 1), DType::Float);
  for (const char* op : {"ZerosLike", "OnesLike"}) {
    cases.good_in_every_type(op, {x});
    cases.good(op, {floats(Shape{0}, {})});
    cases.good(op, {doubles({}, {2})});
    cases.good(op, {large});
  }
  cases.bad("ZerosLike", {}, {}, "takes 1 inputs, got 0");
  cases.bad("OnesLike", {strings({"a"})}, {}, "T is string");
}

void add_broadcast_cases(OpCases& cases) {
  const Tensor x = random_doubles(Shape{2, 3}, -1, 1, 1);
  cases.good("BroadcastTo", {x, ints({2, 3})});
  cases.good_in_every_type("BroadcastTo", {random_doubles(Shape{3, 1}, 1, 9), ints({2, 3, 4})});
  cases.good("BroadcastTo", {random_doubles(Shape{1, 5}, 1, 9), ints({3, 5})});
  cases.good("BroadcastTo", {random_doubles(Shape{0, 1}, 1, 9), ints({0, 5})});
  cases.good("BroadcastTo", {doubles({}, {2}), Tensor::vector<int64_t>({3})});
  cases.good("BroadcastTo", {random_doubles(Shape{1, 2}, 0, 1), ints({0, 2})});
  cases.bad("BroadcastTo", {x, ints({3, 2})}, {}, "does not broadcast to [3,2]");
  cases.bad("BroadcastTo", {x, ints({3})}, {}, "does not broadcast to [");
  cases.bad("BroadcastTo", {x, ints({-2, 3})}, {}, "[-2,3]");
  cases.good_in_every_type("BroadcastGradientArgs", {ints({2, 1, 3, 5, 1}), ints({4, 1, 5, 9})});
  cases.good("BroadcastGradientArgs", {ints({2, 3}), ints({2, 3})});
  cases.good("BroadcastGradientArgs", {Tensor::vector<int64_t>({}), Tensor::vector<int64_t>({0, 1})});
  cases.bad("BroadcastGradientArgs", {ints({2, 3}), ints({4})}, {}, "dimensions 3 and 4");
  cases.bad("BroadcastGradientArgs", {ints({-1}), ints({4})}, {}, "s0 has the dimension -1");
  cases.bad("BroadcastGradientArgs", {int_scalar(1), ints({4})}, {}, "s0 of shape []");
}

void add_identities(OpCases& cases) {
  for (const char* op : {"Identity", "Snapshot", "DebugGradientIdentity", "GuaranteeConst", "DeepCopy",
                         "StopGradient", "PreventGradient"}) {
    cases.good_in_every_type(op, {box()});
    for (const Tensor& tensor : {none(), doubles({}, {1})}) cases.good(op, {tensor});
    cases.bad(op, {}, {}, "takes 1 inputs, got 0");
  }
  cases.good("IdentityN", {box(), strings({"a", "b"}), none(), doubles({}, {1})});
  cases.good("IdentityN", {box()});
  cases.bad("IdentityN", {}, {}, "IdentityN");
  cases.good_in_every_type("PlaceholderWithDefault", {box()}, {{"shape", PartialShape{-1, 3, -1}}});
  for (const Tensor& tensor : {none(), doubles({}, {1})})
    cases.good("PlaceholderWithDefault", {tensor}, {{"shape", PartialShape(tensor.shape())}});
  cases.bad("PlaceholderWithDefault", {box()}, {{"shape", PartialShape{3}}}, "[2,3,5]");
  const Attributes message = {{"message", "here"}};
  cases.good_in_every_type("CheckNumerics", {box()}, message);
  for (const Tensor& tensor : {none(), doubles({}, {1})}) cases.good("CheckNumerics", {tensor}, message);
  cases.bad("CheckNumerics", {floats(Shape{2}, {1, INFINITY})}, message, "here : Tensor had Inf values");
  for (const DType dtype : {DType::Float, DType::Double, DType::Half, DType::BFloat16})
    cases.bad("CheckNumerics", {converted(floats(Shape{2}, {1, NAN}), dtype)}, message,
              "here : Tensor had NaN values");
  const Attributes source = {
      {"op", std::string("_CheckFinite")}, {"node", std::string("there")}, {"index", int64_t{0}}};
  const Tensor bad = floats(Shape{3}, {1, -INFINITY, NAN}), good = floats(Shape{3}, {1, 2, 3});
  cases.good_in_every_type("_CheckFinite", {box(), one()}, source);
  cases.good("_CheckFinite", {none()}, source);
  cases.good("_CheckFinite", {doubles({}, {1}), random_doubles(Shape{7}, 0, 1)}, source);
  cases.good("_CheckFinite", {bad, good, floats({}, {INFINITY})}, source);
  cases.bad("_CheckFinite", {bad, good}, source, "output 0 has Inf and NaN, the first numbers");
  cases.bad("_CheckFinite", {floats({}, {INFINITY})}, source, "output 0 has Inf, the first numbers");
  cases.bad("_CheckFinite", {good, ints({1})}, source, "input 1 is int32; it must be a float type");
  for (const DType dtype : {DType::Float, DType::Double, DType::Half, DType::BFloat16})
    cases.bad("_CheckFinite", {converted(floats(Shape{2}, {1, NAN}), dtype), good}, source,
              "output 0 has NaN");
}

void add_makers(OpCases& cases) {
  for (int type = 1; dtype_from_number(type).ok(); ++type) {
    if (is_local(static_cast<DType>(type))) continue;
    const Tensor value = converted(box(), static_cast<DType>(type));
    cases.good("Const", {}, {{"value", value}, {"dtype", value.dtype()}});
  }
  cases.bad("Const", {}, {{"value", box()}, {"dtype", f32}}, "value is double[2,3,5], but dtype is float");
  cases.good_in_every_type("Fill", {ints({3, 5}), doubles({}, {7})});
  cases.good("Fill", {ints({2, 0}), doubles({}, {7})});
  cases.good("Fill", {ints({}), doubles({}, {7})});
  cases.bad("Fill", {ints({2, -1}), doubles({}, {7})}, {}, "-1");
  cases.bad("Fill", {ints({2}), doubles(Shape{1}, {7})}, {}, "[1]");
  const Attributes of_doubles{{"dtype", f64}};
  cases.good_in_every_type("Empty", {ints({3, 5})}, of_doubles);
  cases.good("Empty", {ints({2, 0})}, {{"dtype", DType::String}, {"init", true}});
  cases.good("Empty", {ints({})}, of_doubles);
  cases.bad("Empty", {ints({2, -1})}, of_doubles, "-1");
  cases.bad("Empty", {int_scalar(2)}, of_doubles, "");
  cases.bad("Empty", {ints({INT32_MAX, INT32_MAX, 9})}, of_doubles, "");
  cases.good("NoOp", {});
  cases.bad("NoOp", {box()}, {}, "takes 0 inputs, got 1");
  cases.good_in_every_type("Range", {int_scalar(1), int_scalar(9), int_scalar(1)});
  cases.good("Range", {int_scalar(11), int_scalar(-2), int_scalar(-3)});
  cases.good("Range", {int_scalar(3), int_scalar(3), int_scalar(1)});
  cases.bad("Range", {int_scalar(0), int_scalar(1), int_scalar(0)}, {}, "delta");
  cases.bad("Range", {int_scalar(0), int_scalar(1), int_scalar(-1)}, {}, "delta leads away from limit");
  cases.bad("Range", {int_scalar(0), ints({1}), int_scalar(1)}, {}, "[1]");
  const Tensor zero = Tensor::scalar<int64_t>(0), step = Tensor::scalar<int64_t>(1);
  cases.bad("Range", {zero, Tensor::scalar(int64_t{1} << 40), step}, {}, "needs more than",
            Code::ResourceExhausted);
  cases.good_in_every_type("LinSpace", {floats({}, {0}), floats({}, {1}), int_scalar(5)});
  cases.good("LinSpace", {floats({}, {3}), floats({}, {1}), int_scalar(1)});
  cases.bad("LinSpace", {floats({}, {0}), floats({}, {1}), int_scalar(0)}, {}, "0");
}

}  // namespace

void add_array_cases(OpCases& cases) {
  add_shape_cases(cases);
  add_joining_cases(cases);
  add_slicing_cases(cases);
  add_moving_cases(cases);
  add_partition_cases(cases);
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) add_stitch_cases(cases, op);
  add_resource_cases(cases);
  add_one_hot_cases(cases);
  add_position_cases(cases);
  add_gather_nd_cases(cases);
  add_roll_cases(cases);
  add_select_cases(cases);
  add_select_v2_cases(cases);
  add_unique_cases(cases);
  add_like_cases(cases);
  add_broadcast_cases(cases);
  add_identities(cases);
  add_makers(cases);
}

}  // namespace troupe::test
