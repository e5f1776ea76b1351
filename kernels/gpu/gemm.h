// Products of row-major matrices on GPUs, by cuBLASLt. Algorithms are chosen by the sizes alone and kept with the device
// (CudaBlas::plans), so that equal inputs give equal bits. Products of half and bfloat16 are summed in float. On a device without a
// GpuQueue a plain loop computes the product. Any thread may call multiply().
#pragma once

#include "devices/device.h"
#include "kernels/gpu/any.h"
#include "messages/values/dtype.h"

namespace troupe::gpu {

/// c = a b for each pair of matrices of a batch; then c += bias and c = max(c, 0) if asked for. All of one dtype, unless `wide`
/// says otherwise.
struct Product {
  DType dtype = DType::Float;  ///< float, double, half or bfloat16
  int64_t rows = 0, columns = 0, inner = 0;
  const std::byte* a = nullptr;  ///< [rows, inner], or [inner, rows] with transpose_a
  const std::byte* b = nullptr;  ///< [inner, columns], or [columns, inner] with transpose_b
  std::byte* c = nullptr;        ///< [rows, columns]; zeros if `inner` is 0
  bool transpose_a = false, transpose_b = false;
  /// The distances of neighbouring rows as they are stored, in elements; 0: the rows follow each other.
  int64_t row_a = 0, row_b = 0, row_c = 0;
  int64_t batch = 1;
  int64_t step_a = 0, step_b = 0,
          step_c = 0;               ///< from one matrix of the batch to the next, in elements; 0 repeats it
  const std::byte* bias = nullptr;  ///< if not null: one element for each column
  bool relu = false;
  bool adds = false;  ///< if true, the product is added to what c was
  /// If true, c is float where a and b are half or bfloat16; then there is neither bias nor relu.
  bool wide = false;
  DType dtype_c() const { return wide && size_of(dtype) == 2 ? DType::Float : dtype; }

  TROUPE_ANY int64_t width_a() const { return row_a != 0 ? row_a : transpose_a ? rows : inner; }
  TROUPE_ANY int64_t width_b() const { return row_b != 0 ? row_b : transpose_b ? inner : columns; }
  TROUPE_ANY int64_t width_c() const { return row_c != 0 ? row_c : columns; }
};

/// Issues the product. Fails with Unavailable if the system has no cuBLASLt.
Status multiply(DeviceContext& device, const Product& product);

}  // namespace troupe::gpu
