// Activation functions and their gradients on GPUs: see activations.cpp.
#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {

void add_activations_on_gpu(OpLibrary& library) {
  constexpr gpu::AllFloats types;
  gpu::add_unary<gpu::Elu>(library, "Elu", types);
  gpu::add_unary<gpu::Relu>(library, "Relu", types);
  gpu::add_unary<gpu::Relu6>(library, "Relu6", types);
  gpu::add_unary<gpu::Selu>(library, "Selu", types);
  gpu::add_unary<gpu::Sigmoid>(library, "Sigmoid", types);
  gpu::add_unary<gpu::Softplus>(library, "Softplus", types);
  gpu::add_unary<gpu::Softsign>(library, "Softsign", types);
  gpu::add_unary<gpu::Tanh>(library, "Tanh", types);
  gpu::add_paired<gpu::EluGrad>(library, "EluGrad", types);
  gpu::add_paired<gpu::Relu6Grad>(library, "Relu6Grad", types);
  gpu::add_paired<gpu::ReluGrad>(library, "ReluGrad", types);
  gpu::add_paired<gpu::SeluGrad>(library, "SeluGrad", types);
  gpu::add_paired<gpu::SigmoidGrad>(library, "SigmoidGrad", types);
  gpu::add_paired<gpu::SoftplusGrad>(library, "SoftplusGrad", types);
  gpu::add_paired<gpu::SoftsignGrad>(library, "SoftsignGrad", types);
  gpu::add_paired<gpu::TanhGrad>(library, "TanhGrad", types);
}

}  // namespace troupe
