// SparseTensorDenseMatMul: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {

struct SparseMatMulArguments {
  SparseTensor a;   ///< [rows, inner], or [inner, rows] with adjoint_a; its positions are not checked yet
  const Tensor& b;  ///< [inner, columns], or [columns, inner] with adjoint_b
  Tensor& product;  ///< [rows, columns]
  bool adjoint_a, adjoint_b;
};

/// Fails with InvalidArgument if a or b is no matrix or the inner dimensions differ.
Result<SparseMatMulArguments> check_sparse_matmul(KernelContext& context);

}  // namespace troupe
