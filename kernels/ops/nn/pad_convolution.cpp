// FusedPadConv2D(input, paddings, filter): Conv2D of the input, NHWC images, padded as MirrorPad does. Fails with InvalidArgument
// where one of the two does. Of a batch of several images, TensorFlow 2.21 computes only the first one like that. Source:
// tensorflow/core/kernels/conv_ops_fused.cc.
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/array/mirror_pad.h"
#include "kernels/ops/nn/convolution.h"

namespace troupe {
namespace {

struct PadConvolutionArguments {
  const Tensor &input, &filter;
  MirrorPadding padding;
  ForwardConvolution convolution;
  Tensor& output;
};

Status pad_convolution_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 4).status());
  TROUPE_ASSIGN(const auto filter, context.with_rank(2, 4));
  TROUPE_ASSIGN(const auto padded, mirror_padded_shape(context));
  TROUPE_ASSIGN(auto output, convolution_shape(context.node(), padded, filter));
  context.set_output(0, std::move(output));
  return {};
}

Result<PadConvolutionArguments> check_pad_convolution(KernelContext& context) {
  const Tensor &input = context.input(0), &filter = context.input(2);
  TROUPE_ASSIGN(MirrorPadding padding, mirror_padding(context));
  TROUPE_ASSIGN(ForwardConvolution convolution,
                forward_convolution(context.node(), padding.padded, filter.shape(), input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, convolution.output));
  return PadConvolutionArguments{input, filter, std::move(padding), std::move(convolution), *output};
}

class PadConvolution {
 public:
  Status operator()(const PadConvolutionArguments& arguments, DeviceContext& device) const {
    if (arguments.convolution.empty) {
      fill(device.pool(), arguments.output);
      return {};
    }
    TROUPE_ASSIGN(Tensor padded,
                  Tensor::allocate(arguments.input.dtype(), arguments.padding.padded, device.host_memory()));
    mirror_pad(device.pool(), arguments.input, arguments.padding, padded);
    return convolution_.run(device, arguments.convolution.sizes, padded, arguments.filter, arguments.output);
  }

 private:
  Convolution convolution_{ConvolutionPass::Forward};
};

}  // namespace

void add_pad_convolution(OpLibrary& library) {
  library.op(OpDefBuilder("FusedPadConv2D")
                 .input("input: T")
                 .host_input("paddings: int32")
                 .input("filter: T")
                 .output("output: T")
                 .attr("T: {half, bfloat16, float, double}")
                 .attr("mode: {'REFLECT', 'SYMMETRIC'}")
                 .attr("strides: list(int)")
                 .attr("padding: {'SAME', 'VALID'}")
                 .shape(pad_convolution_shape));
  library.kernel(kernel_on("CPU", "FusedPadConv2D", [](const PrepareContext&) {
    return Result<std::unique_ptr<Kernel>>(make_kernel(check_pad_convolution, PadConvolution()));
  }));
}

}  // namespace troupe
