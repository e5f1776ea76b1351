// Products with what follows them: the checks on the host, and the arguments that they return to the compute function of each type
// of device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/math/matmul.h"
#include "kernels/ops/nn/convolution.h"

namespace troupe {

/// What fused_ops says.
struct Stages {
  bool bias = false, batch_norm = false, added = false, relu = false;

  size_t arguments() const { return (bias ? 1 : 0) + (batch_norm ? 4 : 0) + (added ? 1 : 0); }
};

/// Fails with InvalidArgument if fused_ops has other names, or another order, or num_args does not fit.
Result<Stages> stages_of(const PrepareContext& context);

/// The tensors that the stages use; null where a stage is left out.
struct PostArguments {
  const Tensor *offset = nullptr, *scale = nullptr, *mean = nullptr, *variance = nullptr, *added = nullptr;
  float epsilon = 0;
  bool relu = false;
};

/// Takes the stages' tensors from the inputs behind the first two. Fails with InvalidArgument unless they fit the output.
Result<PostArguments> post_arguments(const Stages& stages, const KernelContext& context, const Shape& output);

template <class Arguments>
struct FusedArguments {
  Arguments product;
  PostArguments post;
};

/// The check of the product, which returns Arguments, then that of the stages.
template <class Check, class Arguments>
class FusedCheck {
 public:
  FusedCheck(Check product, const Stages& stages) : product_(std::move(product)), stages_(stages) {}

  Result<FusedArguments<Arguments>> operator()(KernelContext& context) const {
    TROUPE_ASSIGN(const Arguments product, product_(context));
    TROUPE_ASSIGN(const PostArguments post, post_arguments(stages_, context, output_of(product).shape()));
    return FusedArguments<Arguments>{product, post};
  }

 private:
  static const Tensor& output_of(const ConvolutionArguments& arguments) { return arguments.out; }
  static const Tensor& output_of(const MatMulArguments& arguments) { return arguments.product; }

  Check product_;
  Stages stages_;
};

/// Return the kernels of _FusedConv2D and _FusedMatMul. Each node has a compute function of type Compute.
template <class Compute>
KernelDef fused_convolution_kernel(const char* device_type) {
  return kernel_on(device_type, "_FusedConv2D",
                   [](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
                     TROUPE_ASSIGN(const Stages stages, stages_of(context));
                     return make_kernel(FusedCheck<ConvolutionCheck, ConvolutionArguments>(
                                            ConvolutionCheck(ConvolutionPass::Forward), stages),
                                        Compute());
                   });
}
template <class Compute>
KernelDef fused_matmul_kernel(const char* device_type) {
  return kernel_on(
      device_type, "_FusedMatMul", [](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
        TROUPE_ASSIGN(const Stages stages, stages_of(context));
        return make_kernel(FusedCheck<MatMulCheck, MatMulArguments>(MatMulCheck(context), stages), Compute());
      });
}

}  // namespace troupe
