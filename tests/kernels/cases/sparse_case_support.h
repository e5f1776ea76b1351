// Sparse tensors for the samples of their ops.
#pragma once

#include <algorithm>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {

inline constexpr DType bf16 = DType::BFloat16, f16 = DType::Half;

/// Positions of a matrix.
inline Tensor pairs(std::initializer_list<int64_t> values) {
  return longs(values).reshaped(Shape{static_cast<int64_t>(values.size()) / 2, 2});
}
/// Random numbers below `limit`.
inline Tensor many_ints(int64_t count, int32_t limit) {
  return converted(random_doubles(Shape{count}, 0, limit), i32);
}
/// Numbers from 0 to segments - 1 in ascending order.
inline Tensor sorted_ids(int64_t count, int64_t segments) {
  Tensor ids = value_or_throw(Tensor::allocate(i32, Shape{count}));
  for (int64_t i = 0; i < count; ++i)
    ids.write<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(i * segments / count);
  return ids;
}
/// Random positions of a matrix, in any order, some of them equal.
inline Tensor many_pairs(int64_t count, int64_t rows, int64_t columns) {
  Tensor indices = value_or_throw(Tensor::allocate(i64, Shape{count, 2}));
  const Tensor random = random_doubles(Shape{count, 2}, 0, 1, 9);
  const auto to = indices.write<int64_t>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<int64_t>(random.as<double>()[i] * static_cast<double>(i % 2 == 0 ? rows : columns));
  return indices;
}

/// Adds what every op refuses as a sparse matrix of shape [3,4]: inputs(indices, values, shape) returns all inputs of the op.
template <class Inputs>
void add_bad_sparse_tensors(OpCases& cases, const std::string& op, const Inputs& inputs,
                            const Attributes& attrs = {}) {
  const Tensor shape = longs({3, 4}), values = filled(Shape{2}), positions = pairs({0, 0, 1, 2});
  for (const auto& [row, column] :
       {std::pair<int64_t, int64_t>{3, 0}, {2, 4}, {2, -1}, {INT64_MAX, 0}, {0, INT64_MIN}})
    cases.bad(op, inputs(pairs({0, 0, row, column}), values, shape), attrs,
              "[1] = [" + std::to_string(row) + ',' + std::to_string(column) + "] is outside");
  cases.bad(op, inputs(positions, filled(Shape{3}), shape), attrs, "of shape [3]");
  cases.bad(op, inputs(positions, filled(Shape{2, 1}), shape), attrs, "are no sparse tensor");
  cases.bad(op, inputs(longs({0, 1}), values, shape), attrs, "are no sparse tensor");
  cases.bad(op, inputs(positions, values, longs({3, 4, 5})), attrs, "are no sparse tensor");
  cases.bad(op, inputs(positions, values, shape.reshaped(Shape{1, 2})), attrs, "are no sparse tensor");
  cases.bad(op, inputs(positions, values, longs({3, -4})), attrs, "= [3,-4] has a negative element");
  cases.bad(op, inputs(positions, values, longs({INT64_MAX, 4})), attrs, "does not fit an int64");
}

}  // namespace troupe::test
