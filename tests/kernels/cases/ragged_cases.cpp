// Samples of the ops on ragged tensors.
#include <cmath>

#include "tests/kernels/cases/sparse_case_support.h"

namespace troupe::test {
namespace {

/// Splits of so many values into rows of about one size.
Tensor many_splits(int64_t rows, int64_t values) {
  Tensor splits = value_or_throw(Tensor::allocate(i64, Shape{rows + 1}));
  for (int64_t i = 0; i <= rows; ++i) splits.write<int64_t>()[static_cast<size_t>(i)] = i * values / rows;
  return splits;
}

Tensor letters(const Shape& shape) { return converted(counting(shape), DType::String); }

void add_range_cases(OpCases& cases) {
  const std::string op = "RaggedRange";
  const Tensor deltas = ints({3, -2, 5});
  cases.good_in_every_type(op, {ints({1, 9, 2}), ints({8, 3, 2}), ints({3, 2, 5})});
  cases.good(op, {ints({1, 9, 2}), int_scalar(5), deltas});
  cases.good(op, {int_scalar(0), int_scalar(7), int_scalar(2)});
  cases.good(op, {floats({2}, {0, 1}), floats({2}, {1, -1}), floats({2}, {0.3F, -0.25F})});
  cases.good(op, {int_scalar(0), converted(random_doubles(Shape{901}, 0, 99), i32), int_scalar(1)});
  cases.good(op, {ints({}), int_scalar(7), ints({})});
  cases.good(op, {int_scalar(INT32_MIN), int_scalar(INT32_MAX), int_scalar(INT32_MAX)}, {{"Tsplits", i32}});
  cases.bad(op, {int_scalar(0), int_scalar(7), int_scalar(0)}, {}, "delta must not be 0");
  cases.bad(op, {ints({0, 1}), ints({7, 8, 9}), int_scalar(1)}, {}, "3");
  cases.bad(op, {ints(Shape{1, 1}, {0}), int_scalar(7), int_scalar(1)}, {}, "must be scalars or vectors");
  cases.bad(op, {int_scalar(INT32_MIN), int_scalar(INT32_MAX), int_scalar(1)}, {{"Tsplits", i32}},
            "which splits of int32 cannot count");
  cases.bad(op, {longs({INT64_MIN, INT64_MIN}), longs({0, 0}), longs({1, 1})}, {}, "too many elements");
  cases.bad(op, {floats({}, {0}), floats({}, {1}), floats({}, {NAN})}, {}, "delta must not be 0");
}

void add_gather_cases(OpCases& cases) {
  const std::string op = "RaggedGather";
  const auto ranks = [](int64_t params, int64_t output) {
    return Attributes{{"PARAMS_RAGGED_RANK", params}, {"OUTPUT_RAGGED_RANK", output}};
  };
  const Tensor outer = ints({0, 2, 2, 4}), inner = ints({0, 3, 3, 5, 9}), values = filled(Shape{9, 2});
  const Tensor indices = ints({2, 0, 1, 2});
  cases.good_in_every_type(op, {outer, inner, values, indices}, ranks(2, 2));
  cases.good(op, {outer, filled(Shape{4}), int_scalar(2)}, ranks(1, 0));
  cases.good(op, {outer, inner, values, int_scalar(2)}, ranks(2, 1));
  cases.good(op, {outer, inner, letters(Shape{9}), ints(Shape{2, 1, 2}, {2, 0, 1, 2})}, ranks(2, 4));
  cases.good(op, {outer, inner, values, ints({})}, ranks(2, 2));
  cases.good(op, {ints({0}), filled(Shape{0}), ints({})}, ranks(1, 1));
  cases.good(op, {ints({1, 2, 4}), filled(Shape{7}), ints({1, 1})}, ranks(1, 1));
  cases.good(op, {many_splits(300, 3001), large(Shape{3001, 3}), many_ints(5003, 300)}, ranks(1, 1));
  cases.bad(op, {outer, inner, values, ints({3})}, ranks(2, 2), "indices[0] = 3 is not in [0, 3)");
  cases.bad(op, {outer, inner, values, ints({-1})}, ranks(2, 2), "indices[0] = -1");
  cases.bad(op, {outer, inner, values, indices}, ranks(2, 3), "OUTPUT_RAGGED_RANK is 3, expected 2");
  cases.bad(op, {outer, inner, values, int_scalar(0)}, ranks(2, 2), "OUTPUT_RAGGED_RANK is 2, expected 1");
  cases.bad(op, {outer, inner, filled(Shape{8}), indices}, ranks(2, 2), "beyond [0, 8]");
  cases.bad(op, {ints({0, 2, 5}), inner, values, ints({0})}, ranks(2, 2), "beyond [0, 4]");
  cases.bad(op, {ints({0, 4, 2}), inner, values, ints({0})}, ranks(2, 2), "[2] = 2 is less than 4");
  cases.bad(op, {ints({-1, 4}), inner, values, ints({0})}, ranks(2, 2), "begins with -1");
  cases.bad(op, {ints({}), inner, values, ints({0})}, ranks(2, 2), "is empty");
  cases.bad(op, {int_scalar(0), filled(Shape{2}), ints({0})}, ranks(1, 1), "[]");
  cases.bad(op, {outer, one(), ints({0})}, ranks(1, 1), "the values are a scalar");
}

void add_to_sparse_cases(OpCases& cases) {
  const std::string op = "RaggedTensorToSparse";
  const auto rank = [](int64_t number) { return Attributes{{"RAGGED_RANK", number}}; };
  const Tensor outer = ints({0, 2, 2, 4}), inner = ints({0, 3, 3, 5, 9});
  cases.good_in_every_type(op, {outer, inner, filled(Shape{9, 2})}, rank(2));
  cases.good(op, {outer, filled(Shape{4})}, rank(1));
  cases.good(op, {outer, letters(Shape{4, 2, 3})}, rank(1));
  cases.good(op, {ints({0}), filled(Shape{0, 2})}, rank(1));
  cases.good(op, {ints({0, 0, 4}), filled(Shape{4, 0})}, rank(1));
  cases.good(op, {longs({0, 100, 30001}), large(Shape{30001})}, rank(1));
  cases.bad(op, {outer, inner, filled(Shape{8})}, rank(2),
            "ends with 9, expected 0 and the number of values, 8");
  cases.bad(op, {ints({0, 2, 5}), inner, filled(Shape{9})}, rank(2),
            "expected 0 and the number of values, 4");
  cases.bad(op, {ints({1, 4}), filled(Shape{4})}, rank(1), "begins with 1");
  cases.bad(op, {ints({0, 3, 2, 4}), filled(Shape{4})}, rank(1), "[2] = 2 is less than 3");
  cases.bad(op, {ints({}), filled(Shape{4})}, rank(1), "is empty");
  cases.bad(op, {ints({0, 1}), one()}, rank(1), "the values are a scalar");
  cases.bad(op, {int_scalar(0), filled(Shape{4})}, rank(1), "[]");
}

void add_to_tensor_cases(OpCases& cases) {
  const std::string op = "RaggedTensorToTensor";
  const auto types = [](std::vector<std::string> names) {
    const auto count = static_cast<int64_t>(names.size());
    return Attributes{{"row_partition_types", std::move(names)}, {"num_row_partition_tensors", count}};
  };
  const Attributes splits = types({"ROW_SPLITS"}), two_splits = types({"ROW_SPLITS", "ROW_SPLITS"}),
                   rows = types({"FIRST_DIM_SIZE", "VALUE_ROWIDS"}),
                   two_rows = types({"FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"});
  const Tensor any = int_scalar(-1), nine = one(9), values = filled(Shape{9}), pairs = filled(Shape{9, 2});
  const Tensor outer = ints({0, 2, 2, 4}), inner = ints({0, 3, 3, 5, 9});
  cases.good_in_every_type(op, {any, values, nine, outer, inner}, two_splits);
  cases.good(op, {any, pairs, nine, outer, inner}, two_splits);
  cases.good(op, {ints({2, 1, 3, 2}), pairs, filled(Shape{2}), outer, inner}, two_splits);
  cases.good(op, {ints({5, 3, -1, -1}), pairs, filled(Shape{1, 2}), outer, inner}, two_splits);
  cases.good(op, {any, values, nine, int_scalar(4), ints({0, 0, 0, 2, 2, 2, 2, 3, 3})}, rows);
  cases.good(op, {ints({-1, 2}), values, nine, int_scalar(4), ints({0, 0, 0, 2, 2, 2, 2, 3, 3})}, rows);
  cases.good(op, {any, values, nine, int_scalar(3), ints({0, 0, 2}), ints({0, 0, 0, 0, 1, 1, 2, 2, 2})},
             two_rows);
  cases.good(op, {any, letters(Shape{9}), strings({"-"}).reshaped(Shape()), ints({0, 9})}, splits);
  cases.good(op, {any, filled(Shape{0, 2}), nine, ints({0, 0})}, splits);
  cases.good(op, {any, filled(Shape{0}), nine, ints({0})}, splits);
  cases.good(op, {ints({3, 2}), filled(Shape{0}), nine, ints({0})}, splits);
  cases.good(op, {any, large(Shape{3001, 3}), large(Shape{3}), many_splits(300, 3001)}, splits);
  cases.bad(op, {int_scalar(3), values, nine, ints({0, 9})}, splits, "the only scalar allowed is -1");
  cases.bad(op, {ints({-1, -2}), values, nine, ints({0, 9})}, splits, "-2");
  cases.bad(op, {ints({-1, -1, -1}), values, nine, ints({0, 9})}, splits, "rank");
  cases.bad(op, {ints({-1, -1, 3}), pairs, nine, ints({0, 9})}, splits, "3");
  cases.bad(op, {any, values, filled(Shape{1}), ints({0, 9})}, splits, "default_value of shape [1]");
  cases.bad(op, {any, pairs, filled(Shape{3}), ints({0, 9})}, splits, "default_value of shape [3]");
  cases.bad(op, {any, one(), nine, ints({0, 9})}, splits, "values is a scalar");
  cases.bad(op, {any, values, nine, ints({0, 8})}, splits, "values of shape [9]");
  cases.bad(op, {any, values, nine, ints({})}, splits, "says that there are -1 rows");
  cases.bad(op, {any, values, nine, ints({0, 5, 3, 9})}, splits, "[2] = 3 is less than 5");
  cases.bad(op, {any, values, nine, ints({0, 1}), inner}, two_splits, "splits 4 rows, but there are 1");
  cases.bad(op, {any, values, nine, int_scalar(2), ints({0, 0, 0, 2, 2, 2, 2, 3, 3})}, rows,
            "has the row 2, which is not in [0, 2)");
  cases.bad(op, {any, filled(Shape{1}), nine, int_scalar(2), ints({-1})}, rows, "has the row -1");
  for (const Tensor& falling : {ints({0, 1, 0}), ints({1, 1, 0})})
    cases.bad(op, {any, filled(Shape{3}), nine, int_scalar(2), falling}, rows, "the row 0 behind the row 1");
  cases.bad(op, {any, values, nine, ints({2}), ints({0})}, rows, "[1]");
  cases.bad(op, {any, values, nine, int_scalar(2)}, splits, "[]");
  cases.bad(op, {any, values, nine, ints({0})}, types({"ROW_LENGTHS"}), "is 'ROW_LENGTHS'");
  cases.bad(op, {any, values, nine, ints({0})}, types({"VALUE_ROWIDS"}), "cannot be the first partition");
  cases.bad(op, {any, values, nine, int_scalar(2)}, types({"FIRST_DIM_SIZE"}),
            "must be followed by VALUE_ROWIDS");
  cases.bad(op, {ints({INT32_MAX, 1024}), values, nine, ints({0, 9})}, splits, "", Code::ResourceExhausted);
}

const Tensor no_weights = floats(Shape{0}, {});

void add_bincount_cases(OpCases& cases) {
  const Tensor numbers = ints({3, 1, 2, 2, 7}), weights = filled(Shape{5}), four = int_scalar(4);
  const Tensor splits = longs({0, 2, 2, 5}), indices = pairs({0, 1, 0, 3, 2, 0, 2, 1, 2, 4}),
               shape = longs({3, 5});
  const Attributes binary = {{"binary_output", true}};
  const auto both = [&](const Tensor& where, const Tensor& dense, const Tensor& size, const Tensor& w,
                        const Tensor& counted, const auto& add) {
    add("RaggedBincount", std::vector<Tensor>{where, counted, size, w});
    add("SparseBincount", std::vector<Tensor>{dense, counted, shape, size, w});
  };
  for (const Attributes& attrs : {Attributes{}, binary}) {
    const auto good = [&](const char* op, const std::vector<Tensor>& inputs) {
      cases.good(op, inputs, attrs);
    };
    both(splits, indices, four, no_weights, numbers, good);
    both(splits, indices, int_scalar(0), no_weights, numbers, good);
    both(longs({0, 0}), pairs({}), four, no_weights, ints({}), good);
    both(longs({0, 2000, 9001}), many_pairs(9001, 3, 5), int_scalar(70), large(Shape{9001}),
         many_ints(9001, 90), good);
  }
  both(splits, indices, four, weights, numbers,
       [&](const char* op, const std::vector<Tensor>& inputs) { cases.good_in_every_type(op, inputs); });
  cases.good("SparseBincount",
             {longs({3, 1, 2, 4, 0}).reshaped(Shape{5, 1}), numbers, longs({9}), four, weights});
  const auto bad = [&](const char* text) {
    return [&cases, text](const char* op, const std::vector<Tensor>& inputs) {
      cases.bad(op, inputs, {}, text);
    };
  };
  both(splits, indices, int_scalar(-1), no_weights, numbers, bad("size is -1"));
  both(splits, indices, ints({4}), no_weights, numbers, bad("[1]"));
  both(splits, indices, four, filled(Shape{4}), numbers, bad("weights of shape [4]"));
  both(splits, indices, four, no_weights, ints({3, 1, -2, 2, 7}), bad("values[2] = -2 is negative"));
  both(splits, indices, four, no_weights, int_scalar(1), bad("[]"));
  both(longs({0, 4}), pairs({0, 1, 0, 3, 3, 0, 2, 1, 2, 4}), four, no_weights, numbers, bad(""));
  cases.bad("RaggedBincount", {longs({}), numbers, four, no_weights}, {}, "splits is empty");
  cases.bad("RaggedBincount", {longs({1, 5}), numbers, four, no_weights}, {}, "splits begins with 1");
  cases.bad("RaggedBincount", {longs({0, 3, 2, 5}), numbers, four, no_weights}, {},
            "splits[2] = 2 is less than 3");
  cases.bad("RaggedBincount", {longs({0, int64_t{1} << 33, 5}), numbers, four, no_weights}, {},
            "splits[2] = 5");
  cases.bad("SparseBincount", {indices, numbers, longs({3, 5, 1}), four, no_weights}, {}, "3");
  cases.bad("SparseBincount", {indices, numbers, longs({3, -5}), four, no_weights}, {}, "-5");
}

void add_count_cases(OpCases& cases) {
  const Tensor numbers = ints({3, 1, 2, 2, 7}), weights = filled(Shape{5});
  const Tensor splits = longs({0, 2, 2, 5}), indices = pairs({0, 1, 0, 3, 2, 0, 2, 1, 2, 4}),
               shape = longs({3, 5});
  const auto all = [&](const Tensor& counted, const Tensor& w, const auto& add) {
    add("DenseCountSparseOutput", std::vector<Tensor>{counted, w});
    add("RaggedCountSparseOutput", std::vector<Tensor>{splits, counted, w});
    add("SparseCountSparseOutput", std::vector<Tensor>{indices, counted, shape, w});
  };
  for (const bool binary : {false, true})
    for (const int64_t most : {-1, 0, 3}) {
      const Attributes attrs = {{"binary_output", binary}, {"maxlength", most}, {"minlength", 2 * most}};
      const Attributes legal = most < 0 ? Attributes{{"binary_output", binary}} : attrs;
      all(numbers, no_weights, [&](const char* op, const auto& inputs) { cases.good(op, inputs, legal); });
      all(ints({3, 0, 2, INT32_MAX, 0}), weights,
          [&](const char* op, const auto& inputs) { cases.good(op, inputs, legal); });
    }
  const Attributes counts = {{"binary_output", false}};
  all(numbers, weights,
      [&](const char* op, const auto& inputs) { cases.good_in_every_type(op, inputs, counts); });
  cases.good("DenseCountSparseOutput", {many_ints(9001, 90).reshaped(Shape{1, 9001}), large(Shape{1, 9001})},
             counts);
  cases.good("DenseCountSparseOutput", {ints(Shape{0, 3}, {}), no_weights}, counts);
  cases.good("RaggedCountSparseOutput", {longs({0}), ints({}), no_weights}, counts);
  cases.good("RaggedCountSparseOutput", {longs({0, 2000, 9001}), many_ints(9001, 90), no_weights}, counts);
  cases.good("SparseCountSparseOutput", {pairs({}), ints({}), shape, no_weights}, counts);
  cases.good("SparseCountSparseOutput",
             {longs({3, 1}).reshaped(Shape{2, 1}), ints({4, 4}), longs({9}), no_weights}, counts);
  cases.good("SparseCountSparseOutput", {many_pairs(9001, 3, 5), many_ints(9001, 90), shape, no_weights},
             counts);
  all(numbers, filled(Shape{4}),
      [&](const char* op, const auto& inputs) { cases.bad(op, inputs, counts, "weights of shape [4]"); });
  all(ints({3, 1, -2, 2, 7}), no_weights,
      [&](const char* op, const auto& inputs) { cases.bad(op, inputs, counts, "= -2 is negative"); });
  all(int_scalar(1), no_weights,
      [&](const char* op, const auto& inputs) { cases.bad(op, inputs, counts, ""); });
  cases.bad("DenseCountSparseOutput", {ints(Shape{1, 1, 1}, {1}), no_weights}, counts, "rank 3");
  cases.bad("DenseCountSparseOutput", {longs({INT64_MAX}), no_weights}, counts, "2^63 - 1");
  cases.bad("RaggedCountSparseOutput", {longs({0, 6}), numbers, no_weights}, counts, "ends with 6");
  cases.bad("RaggedCountSparseOutput", {longs({}), numbers, no_weights}, counts, "splits is empty");
  cases.bad("RaggedCountSparseOutput", {longs({-1, 5}), numbers, no_weights}, counts,
            "splits begins with -1");
  cases.bad("RaggedCountSparseOutput", {longs({0, 3, 2, 5}), numbers, no_weights}, counts,
            "splits[2] = 2 is less than 3");
  cases.bad("SparseCountSparseOutput", {indices, numbers, longs({2, 5}), no_weights}, counts,
            "indices[2,0] = 2 is not in [0, 2)");
}

}  // namespace

void add_ragged_cases(OpCases& cases) {
  add_bincount_cases(cases);
  add_count_cases(cases);
  add_range_cases(cases);
  add_gather_cases(cases);
  add_to_sparse_cases(cases);
  add_to_tensor_cases(cases);
}

}  // namespace troupe::test
