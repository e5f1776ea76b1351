// Splits elementwise work into blocks and runs them on the pool. Blocks depend on shapes alone, so equal inputs give equal bits
// for any number of threads. Work that fits into one block runs on the calling thread.
#pragma once

#include <algorithm>

#include "devices/pool.h"

namespace troupe {

/// The cost of one block, in bytes moved: 20 to 100 us of the memory bandwidth of a core.
inline constexpr size_t block_cost = size_t{256} << 10;

/// Returns the number of items per block if one item costs as much as moving `cost` bytes. It is a multiple of 64, so that
/// blocks of one tensor do not share cache lines.
inline size_t items_per_block(size_t cost) {
  return std::max<size_t>(block_cost / std::max<size_t>(cost, 1) / 64 * 64, 64);
}

/// Calls range(begin, end) for blocks of [0, items). `cost` is the cost of one item, in bytes moved.
template <class Range>
void parallel_items(Pool& pool, size_t items, size_t cost, Range&& range) {
  if (items == 0) return;
  const size_t block = items_per_block(cost);
  if (items <= block) return range(size_t{0}, items);
  pool.blocks(items, block, range);
}

/// Calls range(begin, end) for blocks of [0, rows), where a block may be a single row. `cost` is the cost of one row, in bytes
/// moved.
template <class Range>
void parallel_rows(Pool& pool, size_t rows, size_t cost, Range&& range) {
  if (rows == 0) return;
  const size_t block = std::max<size_t>(block_cost / std::max<size_t>(cost, 1), 1);
  if (rows <= block) return range(size_t{0}, rows);
  pool.blocks(rows, block, range);
}

}  // namespace troupe
