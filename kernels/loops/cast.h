// Conversion of elements between dtypes; any thread.
#pragma once

#include "devices/device.h"
#include "kernels/loops/vector_loops.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Converts contiguous elements between two numbers or bools; null for other dtypes. Integers wrap. A complex number yields its
/// real part. Towards an integer the fraction of a float is dropped. What the integer cannot hold, NaN and infinities too, becomes
/// what TensorFlow makes of it on x86, element by element:
///   int32, int64             the least integer of the type
///   int8, uint8 and 16 bits  the low bits of the int32: 300.7 is 44 as int8, NaN is 0
///   uint32                   the low bits of the int64: -1.5 is 4294967295, NaN is 0
///   uint64                   x mod 2^64 from -2^63 on; 2^63 for the rest
/// (TensorFlow's own answers for more than one element depend on which of its instructions took that element.)
UnaryLoop cast_loop(DType from, DType to);
/// The same with Truncate: a floating number that becomes a narrower one is rounded towards zero, not to the nearest.
UnaryLoop truncating_cast_loop(DType from, DType to);

/// All elements of `from` into `to`, which has as many, by the cast_loop of their dtypes unless another is given.
void convert(Pool& pool, const Tensor& from, Tensor& to, UnaryLoop loop = nullptr);

/// The tensor in that dtype: itself when it has it, else converted into new memory of the device.
Result<Tensor> converted(DeviceContext& device, const Tensor& tensor, DType dtype);

/// half and bfloat16 are storage only: computed in float.
inline bool is_narrow(DType dtype) { return dtype == DType::Half || dtype == DType::BFloat16; }
/// The dtype in which elements of `dtype` are computed: ComputeType (kernels/core/type_dispatch.h) at run time.
inline DType compute_dtype(DType dtype) { return is_narrow(dtype) ? DType::Float : dtype; }

}  // namespace troupe
