// Strided copies, for every op that moves elements without computing: Slice, Concat, Transpose, Tile, Pad and similar ops say
// where the elements are in both tensors, and this code copies them. Any dtype, strings included. Pure functions; any thread
// may call them. Large copies are split over the pool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "devices/pool.h"
#include "kernels/core/dims.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Returns the row-major strides of a tensor with these dimensions, in elements.
Dims strides_of(std::span<const int64_t> dims);

/// The elements of a tensor in a copy: element (i0, i1, ...) is at offset + i0 * strides[0] + i1 * strides[1] + ..., in
/// elements from the start of the tensor. Strides may be negative, and zero when reading.
struct Layout {
  int64_t offset = 0;
  Dims strides;
};

/// A box of elements to copy, with as few axes as possible: axes of size 1 are left out, and neighbouring axes are merged if
/// the strides in both tensors allow it.
struct BoxCopy {
  struct Axis {
    int64_t size, from, to;  ///< the number of elements; the strides in both tensors, in elements
  };
  ShortList<Axis> axes;  ///< outermost first; no axes mean a single element
  int64_t from_offset = 0, to_offset = 0;

  BoxCopy() = default;
  BoxCopy(std::span<const int64_t> dims, const Layout& from, const Layout& to);
  bool empty() const { return std::ranges::find(axes, 0, &Axis::size) != axes.end(); }
};

/// Copies a box of elements. Both tensors have the same dtype and do not overlap. The caller has checked that every element is
/// inside its tensor and that none is written twice.
void strided_copy(Pool& pool, const BoxCopy& box, const Tensor& from, Tensor& to);
/// Copies a box of `dims` elements, with the same conditions.
void strided_copy(Pool& pool, std::span<const int64_t> dims, const Tensor& from, const Layout& from_layout,
                  Tensor& to, const Layout& to_layout);

/// Sets every element to the scalar `value`; if null, to zero or the empty string.
void fill(Pool& pool, Tensor& to, const Tensor* value = nullptr);

}  // namespace troupe
