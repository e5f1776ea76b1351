// Post-ops: what is applied to the products of a convolution or a matrix product while they are still in the cache. Each
// element gets the bits that separate passes over memory would give it. Plain functions; any thread.
#pragma once

#include <cstdint>

#include "devices/pool.h"

namespace troupe {

/// y = relu((x - mean) factor + offset + added). Each part may be left out, but `mean` and `factor` need `offset`. These three have
/// one element for each column.
struct PostOps {
  const float* mean = nullptr;  ///< null: without (x - mean) factor
  const float* factor = nullptr;
  const float* offset = nullptr;
  const float* added = nullptr;  ///< laid out as the result
  bool relu = false;

  bool any() const { return offset || added || relu; }
};

/// Some columns of some rows of a row-major matrix.
struct MatrixRegion {
  int64_t first_row, rows;
  int64_t first_column, columns;
  int64_t stride;  ///< the number of columns of the matrix
};

/// Applies the post-ops to a region of the matrix in place.
void apply_post_ops(const PostOps& post, const MatrixRegion& region, float* matrix);
/// Applies them to all rows, on the threads of the pool.
void apply_post_ops(Pool& pool, const PostOps& post, int64_t rows, int64_t columns, float* matrix);

}  // namespace troupe
