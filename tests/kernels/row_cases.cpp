// Samples of the ops that deal with rows by number, with positions, and with lines along one axis.
#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

Tensor rows(int64_t count, uint64_t seed = 1) { return random_doubles(Shape{count, 5}, 1, 9, seed); }
Tensor one(double value = 1) { return doubles({}, {value}); }

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
            "partitions of shape [3] for data of shape [2,5]");
  cases.bad("DynamicPartition", {one(), ints({0})}, three, "partitions of shape [1] for data of shape []");
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
  cases.bad(op, {ints({0, 1}), rows(3)}, {}, "indices of shape [2] for data of shape [3,5]");
  cases.bad(op, {ints({0}), one()}, {}, "indices of shape [1] for data of shape []");
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
  cases.good_in_every_type("VariableShape", {rows(3)});
  for (const Tensor& variable : {rows(0), one()}) cases.good("VariableShape", {variable});
  cases.bad("VariableShape", {rows(3)}, {{"out_type", f32}}, "attribute out_type is float");
}

void add_cumulative_cases(OpCases& cases, const std::string& op) {
  const Tensor box = random_doubles(Shape{3, 4, 5}, 1, 9);
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      const Attributes attrs{{"exclusive", exclusive}, {"reverse", reverse}};
      for (const int32_t axis : {0, 1, 2, -1}) cases.good(op, {box, int_scalar(axis)}, attrs);
      cases.good(op, {random_doubles(Shape{1}, 1, 9), int_scalar(0)}, attrs);
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
  cases.bad("GatherNd", {box, ints(Shape{2, 2}, {0, 0, 1, 3})}, {}, "indices[1] = [1,3] is not in [2,3]");
  cases.bad("GatherNd", {box, ints(Shape{1, 1}, {-1})}, {}, "indices[0] = [-1] is not in [2]");
  cases.bad("GatherNd", {box, int_scalar(1)}, {}, "indices is a scalar");
  cases.bad("GatherNd", {one(), ints(Shape{1, 1}, {0})}, {},
            "indices of shape [1,1] for a tensor of shape []");

  const Tensor updates = rows(3), shape = ints({2, 3, 5});
  cases.good_in_every_type("ScatterNd", {pairs, updates, shape});
  cases.good("ScatterNd", {ints(Shape{2, 1}, {2, 2}), random_doubles(Shape{2}, 1, 9), ints({3})});
  cases.good("ScatterNd", {ints({1, 1}), one(), ints({3, 2})});
  cases.good("ScatterNd", {ints(Shape{2, 0}, {}), rows(2), ints({5})});
  cases.good("ScatterNd", {ints(Shape{0, 1}, {}), rows(0), ints({3, 5})});
  cases.good("ScatterNd", {converted(random_doubles(Shape{5000, 1}, 0, 61), i32),
                           converted(random_doubles(Shape{5000, 33}, 1, 9), f32), ints({61, 33})});
  cases.bad("ScatterNd", {pairs, updates, ints({2, 2, 5})}, {}, "indices[0] = [1,2] is not in [2,2]");
  cases.bad("ScatterNd", {pairs, updates, ints({2, 3, 4})}, {}, "4]");
  cases.bad("ScatterNd", {pairs, updates, ints({2, -3, 5})}, {}, "-3");
  cases.bad("ScatterNd", {pairs, updates, ints({2})}, {}, "indices of shape [3,2] for a tensor of shape [");
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
  cases.bad(op, {rows(3), Tensor::vector<int64_t>({0, 1, INT64_MAX})}, {}, "segment_ids[2] is too large");
  cases.bad(op, {rows(3), Tensor::vector<int64_t>({0, int64_t{1} << 40, 1})}, {}, "segment_ids[2] = 1");
  cases.bad(op, {rows(3), ints({0, 1})}, {}, "3");
  cases.bad(op, {one(), ints({0})}, {}, "data is a scalar");
}

void add_bias_cases(OpCases& cases) {
  const Tensor box = random_doubles(Shape{2, 3, 5}, 1, 9), last = random_doubles(Shape{5}, 1, 9, 2);
  const Attributes second{{"data_format", std::string("NCHW")}};
  for (const char* op : {"BiasAdd", "BiasAddV1"}) {
    cases.good_in_every_type(op, {box, last});
    cases.good(op, {rows(3), last});
    cases.good(op, {rows(0), last});
    cases.bad(op, {box, random_doubles(Shape{3}, 1, 9)}, {}, "3");
    cases.bad(op, {last, last}, {}, "rank 1 has no channels");
    cases.bad(op, {box, one()}, {}, "[]");
  }
  cases.good("BiasAdd", {box, random_doubles(Shape{3}, 1, 9, 2)}, second);
  cases.good("BiasAdd", {random_doubles(Shape{2, 3, 2, 2}, 1, 9), random_doubles(Shape{3}, 1, 9, 2)}, second);
  cases.good("BiasAdd",
             {converted(random_doubles(Shape{300, 7, 101}, 1, 9), f32),
              converted(random_doubles(Shape{7}, 1, 9), f32)},
             second);
  cases.bad("BiasAdd", {rows(3), random_doubles(Shape{5}, 1, 9)}, second, "rank 2 has no channels");
  cases.bad("BiasAdd", {box, last}, {{"data_format", std::string("HWC")}}, "data_format");
  cases.good_in_every_type("BiasAddGrad", {box});
  for (const Tensor& value : {rows(3), rows(0), converted(random_doubles(Shape{300, 7, 101}, 1, 9), f32)})
    cases.good("BiasAddGrad", {value});
  cases.good("BiasAddGrad", {random_doubles(Shape{2, 3, 2, 2}, 1, 9)}, second);
  cases.bad("BiasAddGrad", {last}, {}, "rank 1 has no channels");
  cases.bad("BiasAddGrad", {one()}, {}, "rank 0 has no channels");
}

}  // namespace

void add_row_cases(OpCases& cases) {
  add_partition_cases(cases);
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) add_stitch_cases(cases, op);
  add_resource_cases(cases);
  for (const char* op : {"Cumsum", "Cumprod"}) add_cumulative_cases(cases, op);
  add_gather_nd_cases(cases);
  for (const char* op : {"SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin"})
    add_segment_cases(cases, op);
  add_bias_cases(cases);
  add_one_hot_cases(cases);
  add_position_cases(cases);
}

}  // namespace troupe::test
