// Conversion of elements between dtypes; any thread.
#pragma once

#include "devices/pool.h"
#include "kernels/vector_loops.h"
#include "messages/tensor.h"

namespace troupe {

/// Converts contiguous elements between two numbers or bools; null for other dtypes. Towards an integer, a
/// float is truncated; out of range it becomes the nearest integer of the type, NaN becomes 0. Integers wrap.
/// A complex number yields its real part.
UnaryLoop cast_loop(DType from, DType to);

/// All elements of `from` into `to`, which has as many.
void convert(Pool& pool, const Tensor& from, Tensor& to);

/// half and bfloat16 are storage only: computed in float.
inline bool is_narrow(DType dtype) { return dtype == DType::Half || dtype == DType::BFloat16; }

}  // namespace troupe
