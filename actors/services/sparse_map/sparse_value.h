// SparseValue: a sparse tensor as three tensors, and the ways between one of rank r and several of rank r - 1. Plain value and pure
// functions; any thread.
#pragma once

#include <span>
#include <vector>

#include "devices/pool.h"
#include "messages/values/tensor.h"

namespace troupe {

struct SparseValue {
  static constexpr size_t parts = 3;

  Tensor indices;  ///< int64[entries, rank]
  Tensor values;   ///< [entries]
  Tensor shape;    ///< int64[rank]
};

/// Fails with InvalidArgument unless the tensors are those of a sparse tensor. The indices are not read.
Status check_sparse(const SparseValue& sparse);

/// Returns the rows along the first dimension. Fails with InvalidArgument if the rank is less than 2 or the indices are not inside
/// of the shape and in ascending order, and with ResourceExhausted if there are very many rows without entries.
Result<std::vector<SparseValue>> rows_of(const SparseValue& sparse, Pool& pool);

/// Returns tensors stacked along a new first dimension; each other dimension is the largest of theirs. Fails with InvalidArgument
/// if there is none, the ranks differ, or the values are not of the dtype.
Result<SparseValue> stacked(std::span<const SparseValue> tensors, DType dtype, Pool& pool);

}  // namespace troupe
