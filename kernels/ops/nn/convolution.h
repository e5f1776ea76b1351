// Conv2D, Conv3D, DepthwiseConv2dNative and their gradients: what every type of device computes after the check on the host.
#pragma once

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/convolution.h"
#include "kernels/ops/nn/windows.h"

namespace troupe {

/// One pass over images in the layout of the node. `a`, `b` and `out` are as of ConvolutionPass.
struct ConvolutionArguments {
  const Tensor& a;
  const Tensor& b;
  Tensor& out;
  ConvolutionSizes sizes;
  bool channels_last;  ///< else the channels precede the spatial dimensions
  bool empty;          ///< an operand has no elements: all elements of `out`, if any, are zero
};

/// Infers the shape of output 0 of a forward pass, of which inputs 0 and 1 are the images and the filter.
Status convolution_shape(ShapeContext& context);

/// Returns the shape of the outputs of a node that convolves images with a filter, both of the rank that its op demands.
Result<PartialShape> convolution_shape(const Node& node, const PartialShape& images,
                                       const PartialShape& filter);

/// A forward pass of a node over images and a filter of certain shapes.
struct ForwardConvolution {
  Shape output;
  ConvolutionSizes sizes;
  bool empty;  ///< an operand has no elements: all outputs, if any, are zero
};
/// Fails with InvalidArgument if the shapes do not fit each other or the attributes.
Result<ForwardConvolution> forward_convolution(const Node& node, const Shape& images, const Shape& filter,
                                               DType dtype);

/// Validates shapes and sizes and allocates the output. Fails with InvalidArgument if they do not fit each other or the attributes.
class ConvolutionCheck {
 public:
  explicit ConvolutionCheck(ConvolutionPass pass) : pass_(pass) {}
  Result<ConvolutionArguments> operator()(KernelContext& context) const;

 private:
  ConvolutionPass pass_;
};

}  // namespace troupe
