// Matrix products: the checks on the host, and the arguments that they return to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/broadcast.h"
#include "kernels/loops/panel_gemm.h"

namespace troupe {

/// The shape function of a product of matrices a and b with attributes transpose_a and transpose_b.
Status matmul_shape(ShapeContext& context);

/// product = a b, where a or b may be transposed first. All have one dtype, but those of SparseMatMul.
struct MatMulArguments {
  const Tensor& a;  ///< [rows, inner], or [inner, rows] with transpose_a
  const Tensor& b;  ///< [inner, columns], or [columns, inner] with transpose_b
  Tensor& product;  ///< [rows, columns]; zeros if `inner` is 0
  bool transpose_a, transpose_b;
};

/// Fails with InvalidArgument if an input is no matrix or the inner dimensions differ.
class MatMulCheck {
 public:
  explicit MatMulCheck(const PrepareContext& context)
      : transpose_a_(context.attr<bool>("transpose_a")), transpose_b_(context.attr<bool>("transpose_b")) {}
  Result<MatMulArguments> operator()(KernelContext& context) const;

 private:
  bool transpose_a_, transpose_b_;
};

/// Computes the product on the CPU.
class MatMulCompute {
 public:
  Status operator()(const MatMulArguments& arguments, DeviceContext& device) const;
  /// The same for floats, and applies the post-ops to the product.
  Status with_post_ops(const MatMulArguments& arguments, const PostOps& post, DeviceContext& device) const;

 private:
  std::unique_ptr<KeptFilter> weights_ = std::make_unique<KeptFilter>();  ///< of b
};

/// A product of matrices for each entry of a batch; the batch dimensions of x and y broadcast. With adj_x (adj_y), the matrices
/// of x (y) are transposed and, if complex, conjugated first.
struct BatchMatMulArguments {
  const Tensor& x;     ///< its last two dimensions are the matrices
  const Tensor& y;     ///< its last two dimensions are the matrices
  Tensor& output;      ///< the batch dimensions, then rows and columns
  Broadcast<2> batch;  ///< broadcasts the dimensions before the last two; offsets count matrices
  bool adj_x, adj_y;
};

/// Fails with InvalidArgument if an input has fewer than two dimensions, the inner dimensions differ, or the batch dimensions
/// do not broadcast (for BatchMatMul: differ).
Result<BatchMatMulArguments> check_batch_matmul(KernelContext& context);

}  // namespace troupe
