// Rows of tensors: the elements at one index of the first dimension, or of the first dimensions. Gather, DynamicPartition and
// similar ops move rows by number; any dtype, strings too. Pure functions; any thread may call them. Large copies are split
// over the pool.
#pragma once

#include <span>
#include <string_view>

#include "devices/function_ref.h"
#include "devices/pool.h"
#include "graph/ops/partial_shape.h"
#include "kernels/core/dims.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Copies row rows[i] of `from` to row i of `to`; a row has `row` elements. The caller has checked the numbers.
void take_rows(Pool& pool, const Tensor& from, std::span<const int64_t> rows, Tensor& to, size_t row);

/// The layout of a tensor: `blocks` blocks of `rows` rows of `row` elements. There are `lists` lists of row numbers; each list
/// holds for blocks / lists consecutive blocks.
struct Slices {
  size_t blocks = 1, lists = 1, rows = 0, row = 0;
};
/// Copies rows block by block: row i of a block of `to` becomes row list[i] of the same block of `from`, where `list` is the
/// list in `numbers` that holds for the block.
void take_rows(Pool& pool, const Tensor& from, std::span<const int64_t> numbers, Tensor& to,
               const Slices& slices);
/// Copies one row.
void copy_row(const Tensor& from, size_t from_row, Tensor& to, size_t to_row, size_t row);

/// Calls change(i) for every i, which changes row rows[i] of some tensor. Calls for the same row run in order on one thread;
/// calls for different rows may run at once. A call costs as much as moving `cost` bytes.
void change_rows(Pool& pool, std::span<const int64_t> rows, size_t cost, FunctionRef<void(size_t)> change);

/// Rows by number, and the number of elements of a row.
struct RowNumbers {
  Dims numbers;
  size_t row;
};

/// Returns the rows at the positions that `indices` lists along its last dimension, in a tensor of dimensions `dims`. A
/// position has one index for each of the first dimensions; the row is what the tensor holds there. Fails with InvalidArgument
/// if a position has more indices than the tensor has dimensions, and with "indices[1,3] = [0,7] is outside the dimensions
/// [2,5]". The tensor exists, so its size fits an int64. If a row has no elements, no row is returned.
Result<RowNumbers> rows_at(const Tensor& indices, std::span<const int64_t> dims);
/// Fails as rows_at() does. There need not be a tensor of these dimensions.
Status check_rows_at(const Tensor& indices, std::span<const int64_t> dims);
/// Returns the shape of those rows together: indices.shape[:-1] + dims[indices.shape[-1]:].
Result<PartialShape> shape_of_rows_at(const PartialShape& indices, const PartialShape& tensor);
/// Fails with InvalidArgument unless `updates` has the shape that shape_of_rows_at returns.
Status check_updates(const Tensor& indices, const Tensor& updates, std::span<const int64_t> dims);

/// Returns the number of elements of a tensor with these dimensions.
size_t count_of(std::span<const int64_t> dims);

/// Returns the dimensions of a row of `data`, where `numbers` holds one number for each row: the dimensions of data begin with
/// those of numbers. A dimension of -1 is unknown and matches any. Fails with InvalidArgument "segment_ids has shape [3] and
/// data has shape [2,5]; ..." if they do not match.
Result<Dims> row_dims(std::span<const int64_t> data, std::span<const int64_t> numbers,
                      std::string_view data_name, std::string_view numbers_name);

}  // namespace troupe
