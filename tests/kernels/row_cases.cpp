// Samples of the ops that move rows by number: DynamicPartition, DynamicStitch.
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
  cases.bad(op, {ints({0, -1}), rows(2)}, {}, "indices[1] = -1 is not in");
  cases.bad(op, {ints({0, 1}), rows(3)}, {}, "indices of shape [2] for data of shape [3,5]");
  cases.bad(op, {ints({0}), one()}, {}, "indices of shape [1] for data of shape []");
  cases.bad(op, {ints({0}), ints({1}), rows(1), random_doubles(Shape{1, 4}, 0, 1)}, {}, "4");
}

}  // namespace

void add_row_cases(OpCases& cases) {
  add_partition_cases(cases);
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) add_stitch_cases(cases, op);
}

}  // namespace troupe::test
