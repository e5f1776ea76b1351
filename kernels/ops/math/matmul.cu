// MatMul, BatchMatMul and BatchMatMulV2 on GPUs: see matmul.cpp.
#include "kernels/ops/math/matmul.h"

#include "kernels/gpu/gemm.h"
#include "kernels/gpu/gpu_kernel.h"

namespace troupe {
namespace {

/// The product of the matrices in the last two dimensions of two tensors.
gpu::Product product_of(const Tensor& a, const Tensor& b, Tensor& c, bool transpose_a, bool transpose_b) {
  const auto a_dims = a.shape().dims(), c_dims = c.shape().dims();
  gpu::Product product{.dtype = a.dtype(),
                       .rows = c_dims[c_dims.size() - 2],
                       .columns = c_dims.back(),
                       .inner = a_dims[a_dims.size() - (transpose_a ? 2 : 1)]};
  product.a = a.data();
  product.b = b.data();
  product.c = c.mutable_data();
  product.transpose_a = transpose_a;
  product.transpose_b = transpose_b;
  return product;
}

Status compute_matmul(const MatMulArguments& arguments, DeviceContext& device) {
  return gpu::multiply(device, product_of(arguments.a, arguments.b, arguments.product, arguments.transpose_a,
                                          arguments.transpose_b));
}

/// One product of a batch for each line of the batch, along which an input may be repeated.
Status compute_batch_matmul(const BatchMatMulArguments& arguments, DeviceContext& device) {
  const Broadcast<2>& batch = arguments.batch;
  gpu::Product product =
      product_of(arguments.x, arguments.y, arguments.output, arguments.adj_x, arguments.adj_y);
  const int64_t size_x = product.rows * product.inner, size_y = product.inner * product.columns;
  const int64_t element = static_cast<int64_t>(size_of(product.dtype));
  const std::byte *const x = product.a, *const y = product.b;
  std::byte* const output = product.c;
  product.step_a = static_cast<int64_t>(batch.inner().steps[0]) * size_x;
  product.step_b = static_cast<int64_t>(batch.inner().steps[1]) * size_y;
  product.step_c = product.rows * product.columns;
  Status status;
  batch.walk(0, static_cast<size_t>(batch.shape().elements()), [&](const auto& from, size_t at, size_t n) {
    if (!status.ok()) return;
    product.a = x + static_cast<int64_t>(from[0]) * size_x * element;
    product.b = y + static_cast<int64_t>(from[1]) * size_y * element;
    product.c = output + static_cast<int64_t>(at) * product.step_c * element;
    product.batch = static_cast<int64_t>(n);
    status = gpu::multiply(device, product);
  });
  return status;
}

}  // namespace

void add_matmul_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel<MatMulCheck>("MatMul", compute_matmul).on("T", dtypes(gpu::AllFloats{})));
  for (const char* op : {"BatchMatMul", "BatchMatMulV2"})
    library.kernel(
        gpu_kernel(op, check_batch_matmul, compute_batch_matmul).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
