// Matrix products: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/broadcast.h"

namespace troupe {

/// product = a b, where a or b is transposed first on request. All have one dtype.
struct MatMulArguments {
  const Tensor& a;  ///< [rows, inner], or [inner, rows] with transpose_a
  const Tensor& b;  ///< [inner, columns], or [columns, inner] with transpose_b
  Tensor& product;  ///< [rows, columns]; zeros when `inner` is 0
  bool transpose_a, transpose_b;
};

/// InvalidArgument when an input is no matrix or the inner dimensions differ.
class MatMulCheck {
 public:
  explicit MatMulCheck(const PrepareContext& context)
      : transpose_a_(context.attr<bool>("transpose_a")), transpose_b_(context.attr<bool>("transpose_b")) {}
  Result<MatMulArguments> operator()(KernelContext& context) const;

 private:
  bool transpose_a_, transpose_b_;
};

/// A product of matrices for each entry of a batch, over which x and y broadcast. With adj_x (adj_y) the matrices of x (y) are
/// transposed and, if complex, conjugated first.
struct BatchMatMulArguments {
  const Tensor& x;     ///< its last two dimensions hold the matrices
  const Tensor& y;     ///< the same
  Tensor& output;      ///< the batch dimensions, then rows and columns
  Broadcast<2> batch;  ///< of the dimensions before the last two, counted in matrices
  bool adj_x, adj_y;
};

/// InvalidArgument when an input holds no matrices, the inner dimensions differ, or the batch dimensions do not broadcast (BatchMatMul:
/// differ).
Result<BatchMatMulArguments> check_batch_matmul(KernelContext& context);

}  // namespace troupe
