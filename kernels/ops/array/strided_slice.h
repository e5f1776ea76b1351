// Slices of variables in the notation of StridedSlice, for ops that write to them (kernels/ops/state/strided_slice_assign.cpp).
// Free functions; any thread may call them.
#pragma once

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {

/// Adds the five mask attributes.
OpDefBuilder with_masks(OpDefBuilder builder);

/// Returns what is known of the slice that inputs 1 to 3 select in input 0. Fails with InvalidArgument if they do not fit it.
Result<PartialShape> sliced_shape(const ShapeContext& context);

/// Where the elements of a slice are in a tensor.
struct SliceTarget {
  Dims dims;      ///< of the slice
  Layout layout;  ///< one stride for each of them
};
/// Returns the slice that inputs 1 to 3 select in input 0. Fails with InvalidArgument if they do not fit it.
Result<SliceTarget> slice_target(const KernelContext& context);

}  // namespace troupe
