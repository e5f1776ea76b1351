// Samples of the ops of sets.
#include "tests/kernels/cases/sparse_case_support.h"

namespace troupe::test {
namespace {

constexpr std::array operations = {"a-b", "B-A", "intersection", "Union"};

Attributes attributes(const std::string& operation, bool validates = true) {
  return {{"set_operation", operation}, {"validate_indices", validates}};
}

void add_set_size_cases(OpCases& cases) {
  const char* const op = "SetSize";
  const Tensor positions = pairs({0, 0, 0, 1, 0, 3, 2, 1, 2, 3}), shape = longs({3, 4});
  const auto inputs = [](const Tensor& indices, const Tensor& values, const Tensor& dims) {
    return std::vector<Tensor>{indices, converted(values, i32), dims};
  };
  for (const bool validates : {false, true})
    cases.good_in_every_type(op, {positions, ints({5, 2, 5, 2, 9}), shape},
                             {{"validate_indices", validates}});
  cases.good(op, {longs({0, 1, 0, 0, 1, 2, 1, 0, 0}).reshaped(Shape{3, 3}), strings({"b", "", "a"}),
                  longs({2, 2, 3})});
  cases.good(op, {pairs({}), ints({}), shape});
  cases.good(op, {pairs({}), ints({}), longs({0, 4})});
  cases.good(op, {pairs({}), ints({}), longs({3, 0})});
  add_bad_sparse_tensors(cases, op, inputs);
  cases.bad(op, {pairs({0, 1, 0, 1}), ints({1, 2}), shape}, {},
            "set_indices[1] is equal to the position before");
  cases.bad(op, {pairs({1, 0, 0, 0}), ints({1, 2}), shape}, {}, "positions must be in row-major order");
  cases.bad(op, {longs({0}).reshaped(Shape{1, 1}), ints({1}), longs({3})}, {},
            "of rank 1, which holds no sets");
  cases.bad(op, {positions, int_scalar(1), shape}, {}, "are no sparse tensor");
  cases.bad(op, {pairs({}), ints({}), longs({int64_t{1} << 40, 2})}, {}, "", Code::ResourceExhausted);
}

void add_dense_cases(OpCases& cases) {
  const char* const op = "DenseToDenseSetOperation";
  const Tensor a = ints(Shape{2, 4}, {3, 1, 3, 2, 9, 9, 9, 9}), b = ints(Shape{2, 3}, {2, 5, 2, 9, 8, 7});
  for (const char* operation : operations) {
    for (const bool validates : {false, true})
      cases.good_in_every_type(op, {a, b}, attributes(operation, validates));
    cases.good(op, {ints(Shape{2, 0}, {}), b}, attributes(operation));
    cases.good(op, {a, ints(Shape{2, 0}, {})}, attributes(operation));
    cases.good(op, {ints(Shape{0, 3}, {}), ints(Shape{0, 2}, {})}, attributes(operation));
    cases.good(op,
               {value_or_throw(Tensor::allocate(i32, Shape{int64_t{1} << 30, 0})),
                value_or_throw(Tensor::allocate(i32, Shape{int64_t{1} << 30, 0}))},
               attributes(operation));
    cases.good(
        op,
        {many_ints(6000, 50).reshaped(Shape{20, 100, 3}), many_ints(10000, 70).reshaped(Shape{20, 100, 5})},
        attributes(operation));
  }
  const Attributes attrs = attributes("union");
  cases.bad(op, {a, ints(Shape{3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3})}, attrs,
            "sets in tensors of shapes [2,4] and [3,4] do not match");
  cases.bad(op, {a, b.reshaped(Shape{1, 2, 3})}, attrs, "do not match");
  cases.bad(op, {ints({1}), ints({1})}, attrs, "of rank 1, which holds no sets");
  cases.bad(op, {int_scalar(1), int_scalar(1)}, attrs, "of rank 0, which holds no sets");
  cases.bad(op, {a, b}, attributes("a+b"),
            "set_operation is 'a+b', expected a-b, b-a, intersection or union");
}

void add_sparse_set_cases(OpCases& cases) {
  const Tensor positions = pairs({0, 0, 0, 1, 0, 3, 2, 1, 2, 3}), values = ints({5, 2, 5, 2, 9}),
               shape = longs({3, 4});
  const Tensor dense = ints(Shape{3, 2}, {2, 7, 1, 1, 9, 4});
  const char *const mixed = "DenseToSparseSetOperation", *const sparse = "SparseToSparseSetOperation";
  for (const char* operation : operations)
    for (const bool validates : {false, true}) {
      const Attributes attrs = attributes(operation, validates);
      cases.good_in_every_type(mixed, {dense, positions, values, shape}, attrs);
      cases.good(mixed, {ints(Shape{3, 0}, {}), positions, values, shape}, attrs);
      cases.good(mixed, {dense, pairs({}), ints({}), longs({3, 0})}, attrs);
      cases.good_in_every_type(
          sparse, {positions, values, shape, pairs({0, 2, 1, 0, 2, 0}), ints({5, 6, 9}), longs({3, 7})},
          attrs);
      cases.good(sparse, {pairs({}), ints({}), shape, positions, values, shape}, attrs);
      cases.good(sparse, {positions, values, shape, pairs({}), ints({}), longs({3, 0})}, attrs);
      cases.good(sparse,
                 {pairs({INT64_MAX / 4 - 1, 3}), ints({1}), longs({INT64_MAX / 4, 4}), pairs({0, 1}),
                  ints({1}), longs({INT64_MAX / 4, 2})},
                 attrs);
    }
  const Attributes attrs = attributes("union");
  add_bad_sparse_tensors(
      cases, mixed,
      [&](const Tensor& indices, const Tensor& of, const Tensor& dims) {
        return std::vector<Tensor>{dense, indices, converted(of, i32), dims};
      },
      attrs);
  add_bad_sparse_tensors(
      cases, sparse,
      [&](const Tensor& indices, const Tensor& of, const Tensor& dims) {
        return std::vector<Tensor>{positions, values, shape, indices, converted(of, i32), dims};
      },
      attrs);
  const Tensor twice = pairs({0, 1, 0, 1}), two = ints({1, 2}), line = longs({0}).reshaped(Shape{1, 1});
  cases.bad(mixed, {dense, twice, two, shape}, attrs, "set2_indices[1] is equal to the position before it");
  cases.bad(mixed, {dense, positions, values, longs({4, 4})}, attrs, "[3,2] and [4,4] do not match");
  cases.bad(mixed, {int_scalar(1), positions, values, shape}, attrs, "of rank 0, which holds no sets");
  cases.bad(sparse, {twice, two, shape, positions, values, shape}, attrs, "set1_indices[1] is equal to");
  cases.bad(sparse, {positions, values, shape, pairs({1, 0, 0, 0}), two, shape}, attrs, "row-major order");
  cases.bad(sparse, {positions, values, shape, positions, values, longs({4, 4})}, attrs, "do not match");
  cases.bad(sparse, {line, ints({1}), longs({3}), line, ints({1}), longs({3})}, attrs,
            "of rank 1, which holds no sets");
  cases.bad(sparse, {int_scalar(1), int_scalar(1), int_scalar(1), positions, values, shape}, attrs, "");
}

}  // namespace

void add_set_cases(OpCases& cases) {
  add_set_size_cases(cases);
  add_dense_cases(cases);
  add_sparse_set_cases(cases);
}

}  // namespace troupe::test
