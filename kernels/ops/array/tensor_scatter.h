// Tensors with rows changed at positions: the check on the host, and the arguments that it returns to the compute function of each
// type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"

namespace troupe {

/// output = the tensor, in which the row at position i, or in ops named Inplace the row with number i, is combined with row i of
/// the updates, in order. The positions are not checked yet: see gather_nd.h.
struct TensorScatterArguments {
  const Tensor* tensor;  ///< null when the output is written over it
  const Tensor& indices;
  const Tensor& updates;
  Tensor& output;
};

/// Checks TensorScatterUpdate and similar ops, but not those named Inplace. Fails with InvalidArgument if indices or updates do not
/// fit the tensor.
Result<TensorScatterArguments> check_tensor_scatter(KernelContext& context);
/// Checks InplaceUpdate, InplaceAdd and InplaceSub. Fails with InvalidArgument if the numbers of rows are no vector, or the updates
/// do not fit the tensor. Every number names a row: see row_modulo().
Result<TensorScatterArguments> check_inplace(KernelContext& context);

/// Returns the row that a number names in ops named Inplace: modulo the rows, from the end if negative. There are rows.
TROUPE_ANY inline int64_t row_modulo(int64_t number, int64_t rows) { return (number % rows + rows) % rows; }

}  // namespace troupe
