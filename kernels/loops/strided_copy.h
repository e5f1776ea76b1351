// Strided copies: one engine under every op that moves elements without computing: Slice, Concat, Transpose,
// Tile, Pad and their kin each say where elements lie on both sides, and the rest is here. Works on any
// dtype, strings included. Pure function; any thread; large copies are shared out over the pool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "devices/pool.h"
#include "kernels/core/dims.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Row-major strides, in elements.
Dims strides_of(std::span<const int64_t> dims);

/// One side of a copy: element (i0, i1, ...) lies at offset + i0 * strides[0] + i1 * strides[1] + ..., in
/// elements from the start of the tensor. Strides may be zero (when reading) or negative.
struct Layout {
  int64_t offset = 0;
  Dims strides;
};

/// A box of elements to be copied, with as few axes as possible: without axes of size 1, and with neighbouring axes merged where
/// the strides in both tensors allow it.
struct BoxCopy {
  struct Axis {
    int64_t size, from, to;  ///< how many elements; the strides in both tensors, in elements
  };
  ShortList<Axis> axes;  ///< outermost first; none: a single element
  int64_t from_offset = 0, to_offset = 0;

  BoxCopy() = default;
  BoxCopy(std::span<const int64_t> dims, const Layout& from, const Layout& to);
  bool empty() const { return std::ranges::find(axes, 0, &Axis::size) != axes.end(); }
};

/// Copies a box of elements. Both tensors have the same dtype and do not overlap; every element lies inside its tensor and none is
/// written twice: the caller has checked.
void strided_copy(Pool& pool, const BoxCopy& box, const Tensor& from, Tensor& to);
/// The same for a box of `dims` elements.
void strided_copy(Pool& pool, std::span<const int64_t> dims, const Tensor& from, const Layout& from_layout,
                  Tensor& to, const Layout& to_layout);

/// Sets every element to that of the scalar `value`, or to zero (the empty string) when null.
void fill(Pool& pool, Tensor& to, const Tensor* value = nullptr);

}  // namespace troupe
