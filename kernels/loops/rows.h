// Rows of tensors: what stands at one number of the first dimensions. Gather, DynamicPartition and their kin move them by number; any
// dtype, strings too. Pure functions; any thread; large copies are shared out over the pool.
#pragma once

#include <span>
#include <string_view>

#include "devices/function_ref.h"
#include "devices/pool.h"
#include "graph/ops/partial_shape.h"
#include "kernels/core/dims.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Row i of `to` becomes row rows[i] of `from`; a row has `row` elements. The caller has checked the numbers.
void take_rows(Pool& pool, const Tensor& from, std::span<const int64_t> rows, Tensor& to, size_t row);

/// A tensor as `blocks` blocks of `rows` rows of `row` elements. There are `lists` lists of rows, the same for as many blocks in turn.
struct Slices {
  size_t blocks = 1, lists = 1, rows = 0, row = 0;
};
/// In each block of `to`, row i becomes row list[i] of that block of `from`, `list` being the block's among the `lists` in `numbers`.
void take_rows(Pool& pool, const Tensor& from, std::span<const int64_t> numbers, Tensor& to,
               const Slices& slices);
/// One row.
void copy_row(const Tensor& from, size_t from_row, Tensor& to, size_t to_row, size_t row);

/// Calls change(i) for every i, to change row rows[i] of something: those of one row in order, on one thread; those of different rows
/// at once. A call costs as much as moving `cost` bytes.
void change_rows(Pool& pool, std::span<const int64_t> rows, size_t cost, FunctionRef<void(size_t)> change);

/// Rows by number, and the elements of one.
struct NamedRows {
  Dims numbers;
  size_t row;
};

/// What stands at the positions in a tensor of these dimensions that `indices` lists along its last: each is a number in every one of
/// the first dimensions, and names what stands there, as a row. InvalidArgument for more numbers than dimensions, and "indices[1,3] =
/// [0,7] is not in [2,5]".
Result<NamedRows> rows_at(const Tensor& indices, std::span<const int64_t> dims);
/// The shape of those rows together: indices.shape[:-1] + dims[indices.shape[-1]:].
Result<PartialShape> shape_of_rows_at(const PartialShape& indices, const PartialShape& tensor);
/// InvalidArgument unless `updates` has this shape.
Status check_updates(const Tensor& indices, const Tensor& updates, std::span<const int64_t> dims);

/// How many elements a tensor of these dimensions has.
size_t count_of(std::span<const int64_t> dims);

/// The dimensions of a row of `data` when `numbers` holds one number for each row: data has those of numbers first, then these. -1 is
/// unknown and fits any. InvalidArgument "segment_ids of shape [3] for data of shape [2,5]".
Result<Dims> row_dims(std::span<const int64_t> data, std::span<const int64_t> numbers,
                      std::string_view data_name, std::string_view numbers_name);

}  // namespace troupe
