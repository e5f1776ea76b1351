// Samples of the ops on sparse tensors that compute with their values.
#include "tests/kernels/cases/sparse_case_support.h"

namespace troupe::test {
namespace {

// ---- Segments

void add_segment_cases(OpCases& cases, const std::string& op) {
  const Tensor data = filled(Shape{5, 3}), indices = ints({4, 0, 0, 2, 3}), ids = ints({0, 0, 1, 3, 3});
  cases.good_in_every_type(op, {data, indices, ids});
  cases.good(op, {filled(Shape{5}), indices, ids});
  cases.good(op, {filled(Shape{5, 2, 3}), ints({1}), ints({0})});
  cases.good(op, {data, ints({}), ints({})});
  cases.good(op, {filled(Shape{5, 0}), indices, ids});
  cases.good(op, {filled(Shape{0, 3}), ints({}), ints({})});
  cases.good(op, {large(Shape{301, 67}), many_ints(20001, 301), sorted_ids(20001, 40)});
  cases.good(op, {converted(large(Shape{301, 67}), f16), many_ints(2001, 301), sorted_ids(2001, 40)});
  cases.bad(op, {data, ints({4, 5}), ints({0, 0})}, {}, "indices[1] = 5 is not in [0, 5)");
  cases.bad(op, {data, ints({-1, 1}), ints({0, 0})}, {}, "indices[0] = -1 is not in [0, 5)");
  cases.bad(op, {data, longs({INT64_MAX}), ints({0})}, {}, "is not in [0, 5)");
  cases.bad(op, {filled(Shape{0, 3}), ints({0}), ints({0})}, {}, "is not in [0, 0)");
  cases.bad(op, {data, ints({1, 1}), ints({1, 0})}, {}, "segment_ids[1] = 0 is less than 1");
  cases.bad(op, {data, ints({1}), ints({-1})}, {}, "segment_ids[0] = -1 is less than 0");
  cases.bad(op, {data, ints({1}), longs({INT64_MAX})}, {}, "is too large");
  cases.bad(op, {data, ints({1}), longs({int64_t{1} << 50})}, {}, "", Code::ResourceExhausted);
  cases.bad(op, {data, ints({1, 2}), ints({0})}, {}, "indices has shape [2] and segment_ids has shape [1]");
  cases.bad(op, {data, ints(Shape{1, 1}, {0}), ints(Shape{1, 1}, {0})}, {}, "they must be vectors");
  cases.bad(op, {one(), ints({0}), ints({0})}, {}, "data is a scalar");
}

void add_counted_segment_cases(OpCases& cases, const std::string& op) {
  const Tensor data = filled(Shape{5, 3}), indices = ints({4, 0, 0, 2, 3}), ids = ints({0, 0, 1, 3, 3});
  cases.good_in_every_type(op, {data, indices, ids, int_scalar(6)});
  cases.good(op, {data, indices, ids, int_scalar(4)});
  cases.good(op, {data, ints({}), ints({}), int_scalar(2)});
  cases.good(op, {data, ints({}), ints({}), int_scalar(0)});
  cases.bad(op, {data, indices, ids, int_scalar(3)}, {}, "segment_ids[3] = 3 is not below num_segments 3");
  cases.bad(op, {data, indices, ids, int_scalar(-1)}, {}, "num_segments is -1");
  cases.bad(op, {data, indices, ids, ints({6, 7})}, {}, "");
  cases.bad(op, {data, indices, ids, Tensor::scalar(int64_t{1} << 50)}, {}, "", Code::ResourceExhausted);
  cases.bad(op, {data, ints({5}), ints({0}), int_scalar(1)}, {}, "indices[0] = 5 is not in [0, 5)");
  cases.bad(op, {data, ints({1, 1}), ints({1, 0}), int_scalar(3)}, {}, "segment_ids[1] = 0 is less than 1");
}

void add_segment_gradient_cases(OpCases& cases, const std::string& op) {
  const Tensor grad = filled(Shape{3, 3}), indices = ints({4, 0, 0, 2, 3}), ids = ints({0, 0, 1, 2, 2});
  cases.good_in_every_type(op, {grad, indices, ids, int_scalar(6)});
  cases.good(op, {filled(Shape{3}), indices, ints({2, 0, 1, 0, 0}), int_scalar(5)});
  cases.good(op, {grad, ints({}), ints({}), int_scalar(2)});
  cases.good(op, {filled(Shape{0, 3}), ints({}), ints({}), int_scalar(0)});
  cases.good(op, {filled(Shape{3, 0}), indices, ids, int_scalar(5)});
  cases.good(op, {large(Shape{40, 67}), many_ints(20001, 301), sorted_ids(20001, 40), int_scalar(301)});
  cases.bad(op, {grad, ints({6}), ints({0}), int_scalar(6)}, {}, "indices[0] = 6 is not in [0, 6)");
  cases.bad(op, {grad, longs({-1}), ints({0}), int_scalar(6)}, {}, "indices[0] = -1 is not in [0, 6)");
  cases.bad(op, {grad, ints({0}), ints({3}), int_scalar(6)}, {}, "segment_ids[0] = 3 is not in [0, 3)");
  cases.bad(op, {grad, ints({0}), ints({-1}), int_scalar(6)}, {}, "segment_ids[0] = -1 is not in [0, 3)");
  cases.bad(op, {grad, indices, ids, int_scalar(-1)}, {}, "output_dim0 is -1");
  cases.bad(op, {grad, indices, ids, ints({6})}, {}, "output_dim0 of shape [1] has rank 1, expected 0");
  cases.bad(op, {grad, indices, ints({0}), int_scalar(6)}, {}, "they must be vectors of the same size");
  cases.bad(op, {one(), indices, ids, int_scalar(6)}, {}, "grad is a scalar");
}

// ---- Products

void add_sparse_matmul_cases(OpCases& cases) {
  const char* const op = "SparseTensorDenseMatMul";
  const Tensor positions = pairs({0, 0, 0, 2, 2, 3, 2, 0, 0, 0}), values = filled(Shape{5}),
               shape = longs({3, 4});
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const Attributes attrs{{"adjoint_a", a}, {"adjoint_b", b}};
      const int64_t inner = a ? 3 : 4;
      cases.good_in_every_type(
          op, {positions, values, shape, filled(b ? Shape{5, inner} : Shape{inner, 5}, 2)}, attrs);
      cases.good(op, {pairs({}), filled(Shape{0}), shape, filled(b ? Shape{5, inner} : Shape{inner, 5})},
                 attrs);
      cases.good(op, {positions, values, shape, filled(b ? Shape{0, inner} : Shape{inner, 0})}, attrs);
      cases.bad(op, {positions, values, shape, filled(b ? Shape{5, 2} : Shape{2, 5})}, attrs,
                "inner dimensions differ");
    }
  cases.good(op, {pairs({}), filled(Shape{0}), longs({0, 3}), filled(Shape{3, 2})});
  cases.good(op, {pairs({}), filled(Shape{0}), longs({3, 0}), filled(Shape{0, 2})});
  cases.good(op,
             {many_pairs(9001, 200, 300), large(Shape{9001}), longs({200, 300}), large(Shape{300, 70}, 2)});
  const Tensor b = filled(Shape{4, 5});
  add_bad_sparse_tensors(cases, op, [&](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s, b};
  });
  cases.bad(op, {positions, values, shape, filled(Shape{4})}, {}, "b of shape [4] has rank 1, expected 2");
  cases.bad(op, {positions, values, shape, one()}, {}, "has rank 0, expected 2");
  cases.bad(op, {longs({0, 0, 0}).reshaped(Shape{1, 3}), filled(Shape{1}), longs({3, 4, 1}), b}, {},
            "are not those of a matrix");
}

void add_hinted_matmul_cases(OpCases& cases) {
  const char* const op = "SparseMatMul";
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const Attributes attrs{{"transpose_a", a}, {"transpose_b", b}, {"a_is_sparse", b}, {"b_is_sparse", a}};
      const Tensor x = large(a ? Shape{3, 2} : Shape{2, 3}), y = large(b ? Shape{5, 3} : Shape{3, 5}, 2);
      cases.good_in_every_type(op, {x, y}, attrs);
      cases.bad(op, {x, large(b ? Shape{5, 4} : Shape{4, 5})}, attrs, "inner dimensions differ");
    }
  cases.good(op, {large(Shape{2, 0}), large(Shape{0, 3})});
  cases.good(op, {large(Shape{0, 2}), large(Shape{2, 3})});
  cases.bad(op, {large(Shape{2}), large(Shape{2, 3})}, {}, "[2]");
  cases.bad(op, {large(Shape{}), large(Shape{2, 3})}, {}, "[]");
}

// ---- Unions and sums

void add_union_cases(OpCases& cases, const char* op, const std::vector<Tensor>& more) {
  const auto both = [&](Tensor ai, Tensor av, Tensor bi, Tensor bv, Tensor shape) {
    std::vector<Tensor> inputs{std::move(ai), std::move(av), shape, std::move(bi), std::move(bv), shape};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  };
  const Tensor a = pairs({0, 0, 0, 2, 2, 3}), b = pairs({0, 1, 0, 2, 1, 0, 2, 3, 2, 3}),
               shape = longs({3, 4});
  const Tensor few = doubles(Shape{3}, {5, 2, 7}), some = doubles(Shape{5}, {1, 6, 3, 4, 9});
  for (const DType dtype : {f64, f32, f16, bf16, i32, i64, DType::Int8, DType::UInt8, DType::Int16,
                            DType::UInt16, DType::UInt32, DType::UInt64}) {
    auto inputs = both(a, converted(few, dtype), b, converted(some, dtype), shape);
    if (!more.empty()) inputs.back() = converted(more.back(), dtype);
    cases.good(op, inputs);
  }
  cases.good(op, both(pairs({}), filled(Shape{0}), b, some, shape));
  cases.good(op, both(pairs({}), filled(Shape{0}), pairs({}), filled(Shape{0}), longs({0, 4})));
  cases.bad(op, both(a, few, pairs({0, 1, 0, 0}), filled(Shape{2}), shape), {},
            "b_indices[1] = [0,0] comes after [0,1]");
  cases.bad(op, both(pairs({0, 4}), filled(Shape{1}), b, some, shape), {},
            "a_indices[0] = [0,4] is outside a_shape [3,4]");
  cases.bad(op, both(a, few, pairs({-1, 0}), filled(Shape{1}), shape), {},
            "b_indices[0] = [-1,0] is outside b_shape [3,4]");
  cases.bad(op, both(a, one(), b, some, shape), {}, "are no sparse tensor");
  cases.bad(op, both(a, few, b, few, shape), {}, "are no sparse tensor");
  auto unequal = both(a, few, b, some, shape);
  unequal[5] = longs({3, 5});
  cases.bad(op, unequal, {}, "a_shape [3,4] and b_shape [3,5] differ");
  unequal[2] = longs({-3, 4});
  cases.bad(op, unequal, {}, "a_shape = [-3,4] has a negative element");
}

void add_sparse_add_cases(OpCases& cases) {
  const char* const op = "SparseAdd";
  const Tensor a = pairs({0, 0, 0, 2, 2, 3}), b = pairs({0, 1, 0, 2, 1, 0}), shape = longs({3, 4});
  const Tensor x = doubles(Shape{3}, {5, 2, 7}), y = doubles(Shape{3}, {1, 6, 3});
  add_union_cases(cases, op, {one(3)});
  for (const auto& [dtype, real] : {std::pair{DType::Complex64, f32}, {DType::Complex128, f64}})
    cases.good(op, {a, converted(x, dtype), shape, b, converted(y, dtype), shape, converted(one(3), real)});
  cases.good(op, {a, x, shape, b, y, shape, one(0)});
  cases.good(op, {a, x, shape, b, y, shape, one(-1)});
  cases.bad(op, {a, x, shape, b, y, shape, converted(one(3), f32)}, {},
            "thresh is float, but the values are double");
  cases.bad(op, {a, x, shape, b, y, shape, filled(Shape{1})}, {},
            "thresh of shape [1] has rank 1, expected 0");
}

void add_sparse_add_gradient_cases(OpCases& cases) {
  const char* const op = "SparseAddGrad";
  const Tensor a = pairs({0, 0, 0, 2, 2, 3}), b = pairs({0, 1, 0, 2, 1, 0, 2, 3, 2, 3}),
               sum = pairs({0, 0, 0, 1, 2, 3, 2, 3});
  cases.good_in_every_type(op, {filled(Shape{4}), a, b, sum});
  cases.good(op, {filled(Shape{0}), a, b, pairs({})});
  cases.good(op, {filled(Shape{4}), pairs({}), pairs({}), sum});
  cases.bad(op, {filled(Shape{3}), a, b, sum}, {}, "");
  cases.bad(op, {filled(Shape{4}), a, longs({0, 0, 0}).reshaped(Shape{1, 3}), sum}, {}, "");
  cases.bad(op, {filled(Shape{4}), pairs({1, 0, 0, 0}), b, sum}, {},
            "a_indices[1] = [0,0] comes after [1,0]");
  cases.bad(op, {one(), a, b, sum}, {}, "has rank 0, expected 1");
}

void add_dense_add_cases(OpCases& cases) {
  const char* const op = "SparseTensorDenseAdd";
  const Tensor positions = ints(Shape{5, 2}, {0, 0, 2, 3, 0, 2, 2, 0, 0, 0}), values = filled(Shape{5});
  cases.good_in_every_type(op, {positions, values, ints({3, 4}), filled(Shape{3, 4}, 2)});
  cases.good(op, {ints(Shape{0, 2}, {}), filled(Shape{0}), ints({0, 4}), filled(Shape{0, 4})});
  cases.good(op, {ints(Shape{2, 0}, {}), filled(Shape{2}), ints({}), one()});
  cases.good(op,
             {many_pairs(90001, 200, 300), large(Shape{90001}), longs({200, 300}), large(Shape{200, 300})});
  const Tensor b = filled(Shape{3, 4});
  add_bad_sparse_tensors(cases, op, [&](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s, b};
  });
  cases.bad(op, {positions, values, ints({4, 3}), b}, {}, "a_shape [4,3] is not the shape of b, [3,4]");
  cases.bad(op, {positions, values, ints({3, 4}), one()}, {}, "is not the shape of b, []");
}

// ---- Reductions

void add_reduction_cases(OpCases& cases, const char* op) {
  const Tensor positions = pairs({2, 0, 0, 0, 0, 2, 0, 0, 2, 3}), values = doubles(Shape{5}, {2, 5, 3, 1, 7});
  const Tensor shape = longs({3, 4});
  const Tensor cube = longs({0, 0, 0, 0, 1, 2, 1, 0, 2, 1, 1, 1, 1, 1, 2}).reshaped(Shape{5, 3});
  for (const bool keeps : {false, true}) {
    const Attributes attrs{{"keep_dims", keeps}};
    cases.good_in_every_type(op, {positions, values, shape, ints({1})}, attrs);
    cases.good(op, {positions, values, shape, int_scalar(0)}, attrs);
    cases.good(op, {positions, values, shape, ints({-1, 0, 1})}, attrs);
    cases.good(op, {positions, values, shape, ints({})}, attrs);
    cases.good(op, {cube, values, longs({2, 2, 3}), ints({0, 2})}, attrs);
    cases.good(op, {cube, values, longs({2, 2, 3}), ints({-2})}, attrs);
    cases.good(op, {pairs({}), filled(Shape{0}), shape, ints({1})}, attrs);
    cases.good(op, {pairs({}), filled(Shape{0}), longs({0, 4}), ints({1})}, attrs);
    cases.good(op, {pairs({}), filled(Shape{0}), shape, ints({})}, attrs);
    cases.good(op, {many_pairs(30001, 200, 300), large(Shape{30001}), longs({200, 300}), ints({0})}, attrs);
  }
  add_bad_sparse_tensors(cases, op, [](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s, int_scalar(0)};
  });
  cases.bad(op, {positions, values, shape, ints({2})}, {}, "2");
  cases.bad(op, {positions, values, shape, ints({-3})}, {}, "-3");
  cases.bad(op, {positions, values, shape, ints({INT32_MIN})}, {}, "");
  cases.bad(op, {positions, values, shape, ints(Shape{1, 1}, {0})}, {}, "is neither scalar nor vector");
}

void add_softmax_cases(OpCases& cases) {
  const char* const op = "SparseSoftmax";
  const Tensor positions = pairs({0, 0, 0, 2, 2, 0, 2, 1, 2, 3}), values = doubles(Shape{5}, {2, 5, 3, 1, 7});
  cases.good_in_every_type(op, {positions, values, longs({3, 4})});
  cases.good(op, {pairs({0, 2, 0, 0, 1, 1}), filled(Shape{3}), longs({2, 3})});
  cases.good(op, {longs({0, 0, 0, 0, 0, 2, 0, 1, 1, 1, 0, 0, 1, 0, 1}).reshaped(Shape{5, 3}), values,
                  longs({2, 2, 3})});
  cases.good(op, {pairs({}), filled(Shape{0}), longs({3, 4})});
  cases.good(op, {pairs({}), filled(Shape{0}), longs({0, 0})});
  add_bad_sparse_tensors(cases, op, [](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s};
  });
  cases.bad(op, {pairs({1, 0, 0, 0}), filled(Shape{2}), longs({3, 4})}, {},
            "sp_indices[1] = [0,0] comes after [1,0]");
  cases.bad(op, {longs({0}).reshaped(Shape{1, 1}), filled(Shape{1}), longs({3})}, {},
            "has rank 1; it must be 2 or more");
  cases.bad(op, {pairs({}), one(), longs({3, 4})}, {}, "are no sparse tensor");
}

void add_cwise_cases(OpCases& cases, const char* op) {
  const Tensor positions = pairs({2, 0, 0, 0, 0, 2, 0, 0, 2, 3}), values = filled(Shape{5}),
               shape = longs({3, 4});
  cases.good_in_every_type(op, {positions, values, shape, filled(Shape{3, 4}, 2)});
  for (const Shape& dense : {Shape{4}, Shape{}, Shape{1}, Shape{3, 1}, Shape{1, 4}, Shape{1, 1}})
    cases.good(op, {positions, values, shape, filled(dense, 2)});
  cases.good(op, {pairs({}), filled(Shape{0}), shape, filled(Shape{4})});
  cases.good(op, {pairs({}), filled(Shape{0}), longs({0, 4}), filled(Shape{0, 4})});
  cases.good(op, {many_pairs(90001, 200, 300), large(Shape{90001}), longs({200, 300}), large(Shape{300})});
  add_bad_sparse_tensors(cases, op, [](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s, one()};
  });
  for (const Shape& dense : {Shape{3}, Shape{1, 3, 4}, Shape{2, 4}, Shape{0}})
    cases.bad(op, {positions, values, shape, filled(dense)}, {}, "does not broadcast to sp_shape [3,4]");
}

}  // namespace

void add_sparse_cases(OpCases& cases) {
  for (const std::string op : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"}) {
    add_segment_cases(cases, op);
    add_counted_segment_cases(cases, op + "WithNumSegments");
    add_segment_gradient_cases(cases, op + "Grad");
    add_segment_gradient_cases(cases, op + "GradV2");
  }
  add_sparse_matmul_cases(cases);
  add_hinted_matmul_cases(cases);
  add_sparse_add_cases(cases);
  add_sparse_add_gradient_cases(cases);
  for (const char* op : {"SparseSparseMaximum", "SparseSparseMinimum"}) add_union_cases(cases, op, {});
  add_dense_add_cases(cases);
  for (const char* op :
       {"SparseReduceSum", "SparseReduceSumSparse", "SparseReduceMax", "SparseReduceMaxSparse"})
    add_reduction_cases(cases, op);
  add_softmax_cases(cases);
  for (const char* op : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"})
    add_cwise_cases(cases, op);
  cases.bad("SparseDenseCwiseDiv", {pairs({0, 1}), longs({5}), longs({1, 2}), longs({3, 0})}, {},
            "integer division by zero at dense[1]");
}

}  // namespace troupe::test
