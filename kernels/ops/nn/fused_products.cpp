// Products with what follows them, made by the pass graph/passes/fuse/fuse.h in place of several nodes:
//   _FusedConv2D(input, filter, args)    Conv2D of NHWC images
//   _FusedMatMul(a, b, args)             MatMul
// fused_ops names what is applied to the products, in this order, and args holds the other inputs of these ops:
//   "BiasAdd" (bias), or "FusedBatchNorm" (scale, offset, mean, variance), not training
//   "Add" (a tensor of the shape of the output)
//   "Relu"
// The results have the bits that the ops would give one by one. The names and attributes are TensorFlow's. Source:
// tensorflow/core/ops/nn_ops.cc, math_ops.cc.
#include "kernels/ops/nn/fused_products.h"

#include "kernels/loops/post_ops.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/nn/batch_norm.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {
namespace {

/// `factors` receives numbers that the result refers to.
PostOps post_ops(const PostArguments& post, std::vector<float>& factors) {
  const auto data = [](const Tensor* tensor) { return tensor ? tensor->as<float>().data() : nullptr; };
  if (post.scale) factors = normalizing_factors(*post.scale, *post.variance, post.epsilon);
  return {data(post.mean), factors.data(), data(post.offset), data(post.added), post.relu};
}

/// Applies the post-ops to a whole output of rows of channels.
void apply_to_all(DeviceContext& device, const PostOps& post, Tensor& out) {
  if (out.elements() == 0) return;
  const int64_t channels = out.shape().dims().back();
  apply_post_ops(device.pool(), post, out.elements() / channels, channels, out.write<float>().data());
}

class FusedConvolution {
 public:
  Status operator()(const FusedArguments<ConvolutionArguments>& arguments, DeviceContext& device) const {
    const ConvolutionArguments& product = arguments.product;
    std::vector<float> factors;
    const PostOps post = post_ops(arguments.post, factors);
    if (!product.empty)
      return convolution_.run_float(device, product.sizes, product.a, product.b, post, product.out);
    fill(device.pool(), product.out);
    apply_to_all(device, post, product.out);
    return {};
  }

 private:
  Convolution convolution_{ConvolutionPass::Forward};
};

class FusedMatMul {
 public:
  Status operator()(const FusedArguments<MatMulArguments>& arguments, DeviceContext& device) const {
    std::vector<float> factors;
    return product_.with_post_ops(arguments.product, post_ops(arguments.post, factors), device);
  }

 private:
  MatMulCompute product_;
};

OpDefBuilder fused_op(const char* name, const char* first, const char* second) {
  return OpDefBuilder(name)
      .input(std::string(first) + ": T")
      .input(std::string(second) + ": T")
      .input("args: num_args * T")
      .output("output: T")
      .attr("T: {float}")
      .attr("num_args: int >= 0")
      .attr("fused_ops: list(string) = []")
      .attr("epsilon: float = 0.0001");
}

}  // namespace

Result<Stages> stages_of(const PrepareContext& context) {
  const auto& names = context.attr<std::vector<std::string>>("fused_ops");
  Stages stages;
  size_t next = 0;
  const auto take = [&](const char* name) {
    const bool here = next < names.size() && names[next] == name;
    if (here) ++next;
    return here;
  };
  stages.bias = take("BiasAdd");
  stages.batch_norm = !stages.bias && take("FusedBatchNorm");
  stages.added = take("Add");
  stages.relu = take("Relu");
  if (next < names.size())
    return invalid_argument("fused_ops has \"" + names[next] + "\" at position " + std::to_string(next) +
                            "; allowed are BiasAdd or FusedBatchNorm, then Add, then Relu");
  if (const auto given = context.attr<int64_t>("num_args"); given != static_cast<int64_t>(stages.arguments()))
    return invalid_argument("num_args is " + std::to_string(given) + ", but fused_ops take " +
                            std::to_string(stages.arguments()) + " arguments");
  return stages;
}

Result<PostArguments> post_arguments(const Stages& stages, const KernelContext& context,
                                     const Shape& output) {
  constexpr size_t first = 2;
  size_t next = first;
  const Dims channels{output.dims().back()};
  const auto take = [&](const char* name, std::span<const int64_t> dims) -> Result<const Tensor*> {
    const Tensor& input = context.input(next++);
    TROUPE_RETURN_IF_FAILED(check_dims(input, name, dims));
    return &input;
  };
  PostArguments result;
  result.relu = stages.relu;
  if (stages.bias) {
    TROUPE_ASSIGN(result.offset, take("bias", channels));
  }
  if (stages.batch_norm) {
    TROUPE_ASSIGN(result.scale, take("scale", channels));
    TROUPE_ASSIGN(result.offset, take("offset", channels));
    TROUPE_ASSIGN(result.mean, take("mean", channels));
    TROUPE_ASSIGN(result.variance, take("variance", channels));
    result.epsilon = context.node().attrs.get<float>("epsilon");
  }
  if (stages.added) {
    TROUPE_ASSIGN(result.added, take("the added tensor", output.dims()));
  }
  return result;
}

void add_fused_product_ops(OpLibrary& library) {
  library.op(fused_op("_FusedConv2D", "input", "filter")
                 .attr("strides: list(int)")
                 .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
                 .attr("explicit_paddings: list(int) = []")
                 .attr("data_format: {'NHWC'} = 'NHWC'")
                 .attr("dilations: list(int) = [1, 1, 1, 1]")
                 .shape(convolution_shape));
  library.kernel(fused_convolution_kernel<FusedConvolution>("CPU"));
  library.op(fused_op("_FusedMatMul", "a", "b")
                 .attr("transpose_a: bool = false")
                 .attr("transpose_b: bool = false")
                 .shape(matmul_shape));
  library.kernel(fused_matmul_kernel<FusedMatMul>("CPU"));
}

}  // namespace troupe
