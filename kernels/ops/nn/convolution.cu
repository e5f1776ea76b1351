// Conv2D, Conv3D, DepthwiseConv2dNative and their gradients on GPUs: see convolution.cpp.
#include "kernels/ops/nn/convolution.h"

#include "kernels/gpu/convolution.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/memory.h"

namespace troupe {
namespace {

struct ConvolutionCompute {
  ConvolutionPass pass;

  Status operator()(const ConvolutionArguments& arguments, DeviceContext& device) const {
    if (arguments.empty) return gpu::clear(device, arguments.out);
    return gpu::convolve(device, {pass, arguments.sizes, arguments.out.dtype(), arguments.channels_last,
                                  arguments.a.data(), arguments.b.data(), arguments.out.mutable_data()});
  }
};

}  // namespace

void add_convolution_on_gpu(OpLibrary& library) {
  using enum ConvolutionPass;
  const std::pair<const char*, ConvolutionPass> ops[] = {
      {"Conv2D", Forward},
      {"Conv2DBackpropInput", ImageGradient},
      {"Conv2DBackpropFilter", FilterGradient},
      {"Conv3D", Forward},
      {"Conv3DBackpropInput", ImageGradient},
      {"Conv3DBackpropFilter", FilterGradient},
      {"Conv3DBackpropInputV2", ImageGradient},
      {"Conv3DBackpropFilterV2", FilterGradient},
      {"DepthwiseConv2dNative", Forward},
      {"DepthwiseConv2dNativeBackpropInput", ImageGradient},
      {"DepthwiseConv2dNativeBackpropFilter", FilterGradient}};
  for (const auto& [op, pass] : ops)
    library.kernel(
        gpu_kernel(op, ConvolutionCheck(pass), ConvolutionCompute{pass}).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
