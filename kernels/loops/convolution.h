// Convolutions over one to three spatial dimensions, and their gradients by images and filters. Images are channels-last, [batch,
// spatial..., channels]; filters are [window..., in_channels / groups, out_channels], where the output channels of a group are
// neighbours. float goes to Winograd's algorithm (kernels/loops/winograd.h) where it pays, else to oneDNN, whose direct
// convolutions are at the peak of multiply-adds; half and bfloat16 are computed in float and rounded once; double and int32 go to
// blocked products. The algorithm and the cut of the work depend on the sizes alone, so equal inputs give equal bits for any
// number of threads. Thread-safe: a Convolution is const but for a cache of what oneDNN prepared and, of a forward convolution, the
// filter in the layout that the algorithm uses.
#pragma once

#include <memory>

#include "devices/device.h"
#include "kernels/core/dims.h"
#include "kernels/loops/post_ops.h"

namespace troupe {

/// One spatial dimension. Output i covers the input elements i * stride - pad_before + j * dilation for j in [0, window); those
/// outside [0, input) are zeros.
struct ConvolutionAxis {
  int64_t input = 1, window = 1, output = 1;
  int64_t stride = 1, dilation = 1, pad_before = 0;

  /// Zeros behind the input that the last output covers; negative: input elements that no output covers.
  int64_t pad_after() const {
    return (output - 1) * stride + (window - 1) * dilation + 1 - pad_before - input;
  }
  friend bool operator==(const ConvolutionAxis&, const ConvolutionAxis&) = default;
};

/// All sizes are at least 1.
struct ConvolutionSizes {
  int64_t batch = 1, groups = 1;
  int64_t in_channels = 1, out_channels = 1;  ///< of all groups together; multiples of `groups`
  ShortList<ConvolutionAxis> axes;            ///< one to three

  int64_t image_elements() const;   ///< of one input image
  int64_t output_elements() const;  ///< of one output image
  int64_t filter_elements() const;
  friend bool operator==(const ConvolutionSizes&, const ConvolutionSizes&) = default;
};

enum class ConvolutionPass : uint8_t {
  Forward,         ///< (images, filter) -> outputs
  ImageGradient,   ///< (gradients of the outputs, filter) -> gradients of the images
  FilterGradient,  ///< (images, gradients of the outputs) -> gradient of the filter
};

class DirectConvolution;
class KeptFilter;

class Convolution {
 public:
  explicit Convolution(ConvolutionPass pass);
  Convolution(Convolution&&) noexcept;
  ~Convolution();

  /// Computes `out`, of the dtype of `a` and `b`: float, double, half, bfloat16 or int32. Of the shapes only the numbers of
  /// elements matter. Fails with ResourceExhausted if there is no memory to work in.
  Status run(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& a, const Tensor& b,
             Tensor& out) const;
  /// The same for float, and applies the post-ops, whose columns are the output channels, to what a forward pass computes.
  Status run_float(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& a, const Tensor& b,
                   const PostOps& post, Tensor& out) const;

 private:
  ConvolutionPass pass_;
  std::unique_ptr<const DirectConvolution> direct_;
  std::unique_ptr<KeptFilter> kept_;  ///< null for gradients, whose filters change in every step
};

}  // namespace troupe
