// Conversion of elements between dtypes. Pure functions; any thread may call them.
#pragma once

#include "devices/device.h"
#include "kernels/loops/vector_loops.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Converts contiguous elements between two numbers or bools; null for other dtypes. A quantised element counts as the integer that
/// it is, not as the float that it stands for. Integers wrap. A complex number stands for its real part, also as a bool. Towards
/// an integer the fraction of a float is dropped. What the integer cannot hold, NaN and infinities too, becomes what TensorFlow
/// makes of it on x86, element by element:
///   int32, int64             the least integer of the type
///   int8, uint8 and 16 bits  the low bits of the int32: 300.7 is 44 as int8, NaN is 0
///   uint32                   the low bits of the int64: -1.5 is 4294967295, NaN is 0
///   uint64                   x mod 2^64 from -2^63 on; 2^63 for the rest
/// (TensorFlow's own answers for more than one element depend on which of its instructions took that element.)
UnaryLoop cast_loop(DType from, DType to);
/// Like cast_loop, with attribute Truncate of Cast: a float that becomes a narrower float is rounded towards zero, not to the
/// nearest.
UnaryLoop truncating_cast_loop(DType from, DType to);

/// Converts all elements of `from` into `to`, which has as many elements. `loop` is the cast_loop of their dtypes unless given.
void convert(Pool& pool, const Tensor& from, Tensor& to, UnaryLoop loop = nullptr);

/// Returns the tensor converted to `dtype`, in new memory of the device, or the tensor itself if it has that dtype.
Result<Tensor> converted(DeviceContext& device, const Tensor& tensor, DType dtype);

/// Returns whether the dtype is half or bfloat16: such elements are stored narrow and computed in float.
inline bool is_narrow(DType dtype) { return dtype == DType::Half || dtype == DType::BFloat16; }
/// Returns the dtype in which elements of `dtype` are computed: ComputeType (kernels/core/type_dispatch.h) at run time.
inline DType compute_dtype(DType dtype) { return is_narrow(dtype) ? DType::Float : dtype; }

}  // namespace troupe
