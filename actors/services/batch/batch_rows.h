// Batch rows: tensors whose rows are joined to batches. Pure functions; any thread.
#pragma once

#include <span>
#include <vector>

#include "actors/services/queue/queue_elements.h"

namespace troupe {

/// Returns the rows of all tuples of tensors, in order, each tuple an element with its rows. Fails with InvalidArgument unless
/// the tuples have equally many tensors of the same dtypes and, but for the number of rows, shapes. There must be at least one
/// tuple.
Result<ElementQueue> batched_rows(std::span<const std::vector<Tensor>> tuples);

/// Returns tensors like these without rows.
Result<std::vector<Tensor>> without_rows(std::span<const Tensor> tensors);

/// The part of a batch that belongs to one step.
struct BatchPart {
  int64_t id = 0, rows = 0;
};
/// Returns the parts that an index lists. Fails with InvalidArgument if it is no int64[n,3] or a part has a negative number of
/// rows.
Result<std::vector<BatchPart>> parts_of(const Tensor& index);
/// Returns the id in a scalar.
Result<int64_t> id_of(const Tensor& id);

}  // namespace troupe
