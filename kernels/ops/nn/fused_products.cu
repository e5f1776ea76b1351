// _FusedConv2D and _FusedMatMul on GPUs: see fused_products.cpp.
#include "kernels/ops/nn/fused_products.h"

#include "kernels/gpu/convolution.h"
#include "kernels/gpu/gemm.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/post_ops.h"

namespace troupe {
namespace {

struct FusedConvolution {
  Status operator()(const FusedArguments<ConvolutionArguments>& arguments, DeviceContext& device) const {
    const ConvolutionArguments& product = arguments.product;
    if (product.empty) {
      TROUPE_RETURN_IF_FAILED(gpu::clear(device, product.out));
    } else {
      TROUPE_RETURN_IF_FAILED(gpu::convolve(
          device, {ConvolutionPass::Forward, product.sizes, product.out.dtype(), product.channels_last,
                   product.a.data(), product.b.data(), product.out.mutable_data()}));
    }
    return gpu::apply_post_ops(device, arguments.post, product.out);
  }
};

/// A bias and ReLU alone are applied by the product itself.
struct FusedMatMul {
  Status operator()(const FusedArguments<MatMulArguments>& arguments, DeviceContext& device) const {
    const MatMulArguments& of = arguments.product;
    PostArguments post = arguments.post;
    const auto dims = of.product.shape().dims();
    gpu::Product product{.dtype = of.product.dtype(),
                         .rows = dims[0],
                         .columns = dims[1],
                         .inner = of.a.shape()[of.transpose_a ? 0 : 1]};
    product.a = of.a.data();
    product.b = of.b.data();
    product.c = of.product.mutable_data();
    product.transpose_a = of.transpose_a;
    product.transpose_b = of.transpose_b;
    if (!post.scale && !post.added) {
      product.bias = post.offset ? post.offset->data() : nullptr;
      product.relu = post.relu;
      post = {};
    }
    TROUPE_RETURN_IF_FAILED(gpu::multiply(device, product));
    return gpu::apply_post_ops(device, post, of.product);
  }
};

}  // namespace

void add_fused_products_on_gpu(OpLibrary& library) {
  library.kernel(fused_convolution_kernel<FusedConvolution>("GPU"));
  library.kernel(fused_matmul_kernel<FusedMatMul>("GPU"));
}

}  // namespace troupe
