// Samples of the ops that write at positions, search in lists and count, and of the ops of vectors and positions.
#include <cmath>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

// ---- Writing at positions

void add_tensor_scatter_cases(OpCases& cases, const std::string& op) {
  const Tensor rows = filled(Shape{4, 5}), updates = filled(Shape{2, 5}, 2);
  cases.good_in_every_type(op, {rows, ints(Shape{2, 1}, {2, 0}), updates});
  cases.good(op, {rows, ints(Shape{3, 2}, {1, 2, 0, 0, 3, 4}), filled(Shape{3}, 2)});
  cases.good(op, {filled(Shape{2, 3, 5}), ints(Shape{1, 2, 2}, {1, 2, 0, 0}), filled(Shape{1, 2, 5}, 2)});
  cases.good(op, {rows, ints({1, 3}), one(5)});
  cases.good(op, {one(), ints(Shape{1, 0}, {}), doubles(Shape{1}, {5})});
  cases.good(op, {rows, ints(Shape{0, 1}, {}), filled(Shape{0, 5})});
  cases.good(op, {filled(Shape{0, 5}), ints(Shape{0, 1}, {}), filled(Shape{0, 5})});
  cases.good(op, {large(Shape{61, 33}), converted(random_doubles(Shape{5000, 1}, 0, 61), i32),
                  large(Shape{5000, 33}, 2)});
  cases.bad(op, {rows, ints(Shape{2, 2}, {0, 0, 3, 5}), filled(Shape{2})}, {},
            "indices[1] = [3,5] is outside the dimensions [4,5]");
  cases.bad(op, {rows, ints(Shape{1, 1}, {-1}), filled(Shape{1, 5})}, {},
            "indices[0] = [-1] is outside the dimensions [4]");
  cases.bad(op, {rows, longs({INT64_MAX}), filled(Shape{5})}, {}, "is outside the dimensions [4]");
  cases.bad(op, {filled(Shape{0, 5}), ints(Shape{1, 1}, {0}), filled(Shape{1, 5})}, {},
            "is outside the dimensions [0]");
  cases.bad(op, {rows, int_scalar(1), filled(Shape{5})}, {}, "indices is a scalar");
  cases.bad(op, {rows, ints(Shape{1, 3}, {0, 0, 0}), one()}, {},
            "indices has shape [1,3] and the tensor has shape [4,5]");
  cases.bad(op, {rows, ints(Shape{2, 1}, {0, 1}), filled(Shape{3, 5})}, {}, "[3,5]");
}

void add_inplace_cases(OpCases& cases, const std::string& op) {
  const Tensor rows = filled(Shape{4, 5}), changes = filled(Shape{3, 5}, 2);
  cases.good_in_every_type(op, {rows, ints({2, -1, 6}), changes});
  cases.good(op, {rows, ints({}), filled(Shape{0, 5})});
  cases.good(op, {filled(Shape{0, 5}), ints({7}), filled(Shape{1, 5})});
  cases.good(op, {filled(Shape{7}), ints({INT32_MAX}), filled(Shape{1})});
  cases.good(op, {filled(Shape{7}), ints({INT32_MIN}), filled(Shape{1})});
  cases.good(op, {large(Shape{61, 33}), converted(random_doubles(Shape{5000}, -99, 99), i32),
                  large(Shape{5000, 33}, 2)});
  cases.bad(op, {rows, ints(Shape{1, 3}, {0, 1, 2}), changes}, {}, "[1,3]");
  cases.bad(op, {rows, ints({0, 1}), changes}, {}, "[3,5]");
  cases.bad(op, {rows, ints({0}), filled(Shape{5})}, {}, "[5]");
  cases.bad(op, {rows, ints({0}), filled(Shape{1, 4})}, {}, "[1,4]");
  cases.bad(op, {one(), ints({0}), one()}, {}, "scalar");
}

void add_sparse_to_dense_cases(OpCases& cases) {
  const char* const op = "SparseToDense";
  const Tensor pairs = ints(Shape{3, 2}, {0, 1, 1, 0, 2, 4}), values = filled(Shape{3}), shape = ints({3, 5});
  const Attributes unordered{{"validate_indices", false}};
  cases.good_in_every_type(op, {pairs, shape, values, one(7)});
  cases.good_in_every_type(op, {ints(Shape{3, 1}, {4, 0, 2}), ints({5}), values, one(7)}, unordered);
  cases.good(op, {pairs, shape, one(3), one(7)});
  cases.good(op, {ints({1, 3}), ints({5}), filled(Shape{2}), one(7)});
  cases.good(op, {int_scalar(3), ints({5}), one(3), one(7)});
  cases.good(op, {int_scalar(3), ints({5}), filled(Shape{1}), one(7)});
  cases.good(op, {ints({}), ints({5}), filled(Shape{0}), one(7)});
  cases.good(op, {ints(Shape{0, 2}, {}), ints({2, 0}), one(3), one(7)});
  cases.good(op, {ints(Shape{1, 0}, {}), ints({}), filled(Shape{1}), one(7)});
  cases.good(op,
             {converted(random_doubles(Shape{70001}, 0, 40000), i32), ints({40000}), large(Shape{70001}),
              floats({}, {7})},
             unordered);
  for (const Attributes& attrs : {Attributes{}, unordered}) {
    cases.bad(op, {ints({0, 5}), ints({5}), filled(Shape{2}), one()}, attrs,
              "indices[1] = [5] is outside the dimensions [5]");
    cases.bad(op, {ints({-1, 0}), ints({5}), filled(Shape{2}), one()}, attrs,
              "indices[0] = [-1] is outside the dimensions [5]");
    cases.bad(op, {longs({INT64_MAX}), longs({5}), filled(Shape{1}), one()}, attrs,
              "is outside the dimensions [5]");
    cases.bad(op, {ints({0, 1}), ints({-5}), filled(Shape{2}), one()}, attrs, "-5");
    cases.bad(op, {longs({0, 1}), longs({INT64_MAX}), filled(Shape{2}), one()}, attrs, "",
              Code::ResourceExhausted);
  }
  cases.bad(op, {ints({1, 1}), ints({5}), filled(Shape{2}), one()}, {},
            "sparse_indices[1] is the same position");
  cases.bad(op, {ints({1, 0}), ints({5}), filled(Shape{2}), one()}, {},
            "sparse_indices[1] is a lower position");
  cases.bad(op, {ints({1, 2}), ints({5}), filled(Shape{3}), one()}, {}, "");
  cases.bad(op, {ints({1, 2}), ints({5, 5}), filled(Shape{2}), one()}, {}, "");
  cases.bad(op, {ints({1, 2}), ints({5}), filled(Shape{2, 1}), one()}, {}, "[2,1]");
  cases.bad(op, {ints({1, 2}), ints({5}), filled(Shape{2}), filled(Shape{1})}, {}, "[1]");
  cases.bad(op, {ints({1, 2}), int_scalar(5), filled(Shape{2}), one()}, {}, "[]");
  cases.bad(op, {ints(Shape{1, 1, 1}, {0}), ints({5}), filled(Shape{1}), one()}, {}, "[1,1,1]");
}

// ---- Counting and searching

void add_histogram_cases(OpCases& cases) {
  const std::string op = "HistogramFixedWidth";
  const Tensor values = doubles(Shape{2, 3}, {-1, 0, 2.4, 7, 5, 99}), range = doubles(Shape{2}, {0, 5});
  cases.good_in_every_type(op, {converted(values, i32), ints({0, 5}), int_scalar(5)});
  cases.good(op, {values, range, int_scalar(1)});
  cases.good(op, {one(), range, int_scalar(3)});
  cases.good(op, {doubles(Shape{0}, {}), range, int_scalar(3)});
  for (const int32_t bins : {0, -1, INT32_MIN})
    cases.bad(op, {values, range, int_scalar(bins)}, {}, "nbins is " + std::to_string(bins));
  cases.bad(op, {values, range, ints({3})}, {}, "");
  cases.bad(op, {values, one(), int_scalar(3)}, {}, "");
  cases.bad(op, {values, doubles(Shape{3}, {1, 2, 3}), int_scalar(3)}, {}, "[3]");
  cases.bad(op, {values, doubles(Shape{2}, {5, 5}), int_scalar(3)}, {},
            "value_range is [5.000000, 5.000000]");
  cases.bad(op, {values, doubles(Shape{2}, {0, NAN}), int_scalar(3)}, {}, "value_range is [0.000000, nan]");
  cases.bad(op, {values, doubles(Shape{2}, {-INFINITY, 5}), int_scalar(3)}, {}, "value_range is [-inf, 5");
  cases.bad(op, {values, doubles(Shape{2}, {-1.5e308, 1.5e308}), int_scalar(3)}, {},
            "by a finite difference");
  cases.bad(op, {doubles(Shape{2}, {1, NAN}), range, int_scalar(3)}, {}, "values[1] is NaN");
  cases.bad(op, {values, range, int_scalar(INT32_MAX)}, {{"dtype", f32}}, "attribute dtype is float");
}

void add_nearness_cases(OpCases& cases) {
  const std::string op = "ApproximateEqual";
  const Tensor x = doubles(Shape{2, 2}, {1, 2, 3, 4}), y = doubles(Shape{2, 2}, {1, 3, 1, 4.000001});
  cases.good_in_every_type(op, {x, y});
  cases.good(op, {x, y}, {{"tolerance", 1.5F}});
  cases.good(op, {one(), one()});
  cases.good(op, {doubles(Shape{0}, {}), doubles(Shape{0}, {})});
  cases.good(op, {large(Shape{300001}), large(Shape{300001})});
  cases.bad(op, {x, filled(Shape{4})}, {}, "");
}

void add_bincount_cases(OpCases& cases) {
  const Tensor numbers = ints({1, 4, 1, 0, 7}), weights = filled(Shape{5}), none = doubles(Shape{0}, {});
  const Tensor many = converted(random_doubles(Shape{300001}, 0, 99), i32);
  cases.good_in_every_type("Bincount", {numbers, int_scalar(5), weights});
  cases.good_in_every_type("DenseBincount", {numbers, int_scalar(5), weights});
  for (const char* op : {"Bincount", "DenseBincount"}) {
    cases.good(op, {numbers, int_scalar(5), none});
    cases.good(op, {int_scalar(3), int_scalar(5), one(7)});
    cases.good(op, {ints({}), int_scalar(5), none});
    cases.good(op, {numbers, int_scalar(0), weights});
    cases.good(op, {many, int_scalar(90), large(Shape{300001})});
    cases.good(op, {many, int_scalar(90), ints({})});
    cases.bad(op, {ints({1, -1}), int_scalar(5), none}, {}, "[1] = -1 is negative");
    cases.bad(op, {ints({INT32_MIN}), int_scalar(5), none}, {}, "is negative");
    cases.bad(op, {numbers, int_scalar(-1), none}, {}, "size is -1");
    cases.bad(op, {numbers, ints({5}), none}, {}, "[1]");
    cases.bad(op, {numbers, int_scalar(5), filled(Shape{3})}, {}, "weights of shape [3] for");
  }
  cases.good("Bincount", {ints(Shape{2, 2}, {1, 0, 1, 2}), int_scalar(5), filled(Shape{2, 2})});
  const Attributes binary{{"binary_output", true}};
  cases.good("DenseBincount", {ints(Shape{2, 3}, {1, 0, 1, 2, 9, 2}), int_scalar(5), filled(Shape{2, 3})});
  cases.good("DenseBincount", {ints(Shape{2, 3}, {1, 0, 1, 2, 9, 2}), int_scalar(5), none}, binary);
  cases.good("DenseBincount", {numbers, int_scalar(5), weights}, binary);
  cases.good("DenseBincount", {ints(Shape{0, 3}, {}), int_scalar(5), none});
  cases.good("DenseBincount", {ints(Shape{2, 0}, {}), int_scalar(5), none});
  cases.good("DenseBincount", {many.reshaped(Shape{1, 300001}), int_scalar(90), none}, binary);
  cases.bad("DenseBincount", {ints(Shape{1, 1, 1}, {0}), int_scalar(5), none}, {}, "is of rank 3 or more");
  cases.bad("DenseBincount", {longs({1}), Tensor::scalar(INT64_MAX), none}, {}, "", Code::ResourceExhausted);
}

void add_sorted_search_cases(OpCases& cases) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor lists = doubles(Shape{2, 5}, {1, 2, 2, 4, 9, 3, 3, 3, 3, 3});
  for (const char* op : {"LowerBound", "UpperBound"}) {
    cases.good_in_every_type(op, {lists, doubles(Shape{2, 3}, {2, 0, 9, 3, 2, 4})});
    cases.good(op, {doubles(Shape{1, 3}, {-0.0, 1, INFINITY}),
                    doubles(Shape{1, 5}, {nan, 0, -INFINITY, INFINITY, 0.5})});
    cases.good(op, {doubles(Shape{2, 0}, {}), filled(Shape{2, 3})});
    cases.good(op, {doubles(Shape{0, 2}, {}), doubles(Shape{0, 3}, {})});
    cases.good(op, {lists, doubles(Shape{2, 0}, {})});
    cases.good(op, {converted(lists, f32), large(Shape{2, 50001})});
    cases.bad(op, {lists, filled(Shape{3, 3})}, {}, "");
    cases.bad(op, {lists, filled(Shape{3})}, {}, "");
    cases.bad(op, {one(), one()}, {}, "");
    cases.bad(op, {lists, strings({"a"})}, {}, "");
  }
  const auto boundaries = [](std::vector<float> values) {
    return Attributes{{"boundaries", std::move(values)}};
  };
  cases.good_in_every_type("Bucketize", {doubles(Shape{5}, {0, 1, 2, 5, 3})}, boundaries({1, 3, 3}));
  cases.good("Bucketize", {doubles(Shape{3}, {nan, -INFINITY, INFINITY})}, boundaries({-1, 1}));
  cases.good("Bucketize", {one()}, boundaries({}));
  cases.good("Bucketize", {filled(Shape{0, 2})}, boundaries({1}));
  cases.good("Bucketize", {large(Shape{300, 401})}, boundaries({1.5, 2, 4, 8}));
  cases.bad("Bucketize", {one()}, boundaries({2, 1}), "boundaries are not sorted");
  cases.bad("Bucketize", {strings({"a"})}, boundaries({}), "T is string");
}

void add_edit_distance_cases(OpCases& cases) {
  const char* const op = "EditDistance";
  const auto positions = [](std::initializer_list<int64_t> values) {
    return longs(values).reshaped(Shape{static_cast<int64_t>(values.size()) / 2, 2});
  };
  const Tensor three = positions({0, 0, 0, 1, 2, 0}), five = positions({0, 0, 0, 1, 0, 2, 1, 0, 2, 3});
  const Tensor few = doubles(Shape{3}, {1, 2, 3}), more = doubles(Shape{5}, {2, 2, 5, 1, 3});
  const Tensor shape = longs({3, 2}), larger = longs({4, 5}),
               no_positions = Tensor::of<int64_t>(Shape{0, 2}, {});
  const Tensor nothing = doubles(Shape{0}, {});
  const Attributes whole{{"normalize", false}};
  cases.good_in_every_type(op, {three, few, shape, five, more, larger});
  cases.good(op, {three, few, shape, five, more, larger}, whole);
  cases.good(op, {no_positions, nothing, shape, five, more, larger});
  cases.good(op, {three, few, shape, no_positions, nothing, longs({1, 0})});
  cases.good(op, {no_positions, nothing, longs({0, 2}), no_positions, nothing, longs({0, 2})});
  const auto deep = [](std::initializer_list<int64_t> values) {
    return longs(values).reshaped(Shape{static_cast<int64_t>(values.size()) / 3, 3});
  };
  cases.good(op, {deep({0, 1, 0, 1, 0, 1}), doubles(Shape{2}, {1, 2}), longs({2, 2, 2}),
                  deep({0, 1, 0, 1, 0, 1}), doubles(Shape{2}, {1, 3}), longs({2, 2, 2})});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  cases.good(
      op, {three, doubles(Shape{3}, {nan, 0.0, 1}), shape, three, doubles(Shape{3}, {nan, -0.0, 1}), shape});
  const auto refused = [&](const Tensor& indices, const Tensor& values, const Tensor& dims,
                           const char* text) {
    cases.bad(op, {indices, values, dims, five, more, larger}, {}, text);
    cases.bad(op, {five, more, larger, indices, values, dims}, {}, text);
  };
  refused(positions({0, 2}), doubles(Shape{1}, {1}), shape,
          "indices[0] = [0,2] is outside the dimensions [3,2]");
  refused(positions({-1, 0}), doubles(Shape{1}, {1}), shape,
          "indices[0] = [-1,0] is outside the dimensions [3,2]");
  refused(positions({INT64_MAX, 0}), doubles(Shape{1}, {1}), shape, "is outside the dimensions [3,2]");
  refused(positions({1, 0, 0, 0}), doubles(Shape{2}, {1, 2}), shape, "_indices[1] is of a sequence before");
  refused(three, doubles(Shape{2}, {1, 2}), shape, "");
  refused(three, few, longs({3, 2, 1}), "");
  refused(three, few, longs({-3, 2}), "has a negative element");
  refused(longs({0, 1, 2}), few, shape, "");
  refused(three, one(), shape, "");
  cases.bad(op, {no_positions, nothing, longs({int64_t{1} << 62, 2}), five, more, larger}, {}, "",
            Code::ResourceExhausted);
}

// ---- Vectors and patches

void add_cross_cases(OpCases& cases) {
  cases.good_in_every_type("Cross", {filled(Shape{5, 3}), filled(Shape{5, 3}, 2)});
  cases.good("Cross", {filled(Shape{3}), filled(Shape{3}, 2)});
  cases.good("Cross", {filled(Shape{0, 3}), filled(Shape{0, 3})});
  cases.good("Cross", {large(Shape{70001, 3}), large(Shape{70001, 3}, 2)});
  cases.bad("Cross", {filled(Shape{3, 2}), filled(Shape{3, 2})}, {}, "holds no vectors of 3 elements");
  cases.bad("Cross", {filled(Shape{0}), filled(Shape{0})}, {}, "holds no vectors of 3 elements");
  cases.bad("Cross", {one(), one()}, {}, "holds no vectors of 3 elements");
  cases.bad("Cross", {filled(Shape{1, 3}), filled(Shape{3})}, {}, "[1,3]");
}

void add_unravel_cases(OpCases& cases) {
  const char* const op = "UnravelIndex";
  cases.good_in_every_type(op, {ints({0, 5, 2, 4, 4}), ints({2, 3})});
  cases.good(op, {int_scalar(7), ints({2, 2, 3})});
  cases.good(op, {ints({}), ints({2, 3})});
  cases.good(op, {ints({0, 0}), ints({})});
  cases.good(op, {int_scalar(0), ints({1})});
  cases.good(op, {longs({INT64_MAX - 1}), longs({INT64_MAX})});
  cases.good(op, {converted(random_doubles(Shape{70001}, 0, 30000), i32), ints({10, 30, 1, 100})});
  cases.bad(op, {ints({0, 6}), ints({2, 3})}, {}, "indices[1] = 6 is not in [0, 6)");
  cases.bad(op, {int_scalar(-1), ints({2, 3})}, {}, "indices = -1 is not in [0, 6)");
  cases.bad(op, {int_scalar(1), ints({})}, {}, "indices = 1 is not in [0, 1)");
  cases.bad(op, {ints({0}), ints({2, 0})}, {}, "dims = [2,0] has the element 0; all must be positive");
  cases.bad(op, {ints({0}), ints({-2, 3})}, {}, "dims = [-2,3] has the element -2");
  cases.bad(op, {longs({0}), longs({INT64_MAX, 2})}, {}, "has a product of more than 2^63 - 1");
  cases.bad(op, {ints(Shape{1, 1}, {0}), ints({2})}, {},
            "indices of shape [1,1] must be a scalar or a vector");
  cases.bad(op, {ints({0}), int_scalar(2)}, {}, "dims");
}

void add_bitpack_cases(OpCases& cases) {
  const char* const op = "CompareAndBitpack";
  cases.good_in_every_type(op, {filled(Shape{3, 8}), one(5)});
  cases.good(op, {converted(ints({0, 1, 1, 0, 1, 0, 0, 1}), DType::Bool), bools({}, {true})});
  cases.good(op, {floats(Shape{8}, {NAN, 1, -HUGE_VALF, HUGE_VALF, 0, -0.0F, 2, 3}), floats({}, {0})});
  cases.good(op, {filled(Shape{0, 16}), one()});
  cases.good(op, {filled(Shape{3, 0}), one()});
  cases.good(op, {large(Shape{333, 1000}), floats({}, {4.5F})});
  cases.bad(op, {filled(Shape{8, 3}), one()}, {},
            "[8,3]: the size of the last dimension must be a multiple of 8");
  cases.bad(op, {one(), one()}, {}, "input is a scalar");
  cases.bad(op, {filled(Shape{8}), filled(Shape{1})}, {}, "threshold of shape [1]");
}

}  // namespace

void add_lookup_cases(OpCases& cases) {
  for (const char* op : {"TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax",
                         "TensorScatterMin", "ScatterNdNonAliasingAdd"})
    add_tensor_scatter_cases(cases, op);
  for (const char* op : {"InplaceUpdate", "InplaceAdd", "InplaceSub"}) add_inplace_cases(cases, op);
  add_sparse_to_dense_cases(cases);
  add_histogram_cases(cases);
  add_nearness_cases(cases);
  add_bincount_cases(cases);
  add_sorted_search_cases(cases);
  add_edit_distance_cases(cases);
  add_cross_cases(cases);
  add_unravel_cases(cases);
  add_bitpack_cases(cases);
}

}  // namespace troupe::test
