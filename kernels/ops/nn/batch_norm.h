// Batch normalisation: what every type of device computes after the check on the host.
#pragma once

#include "graph/build/gradients.h"
#include "kernels/core/checked_kernel.h"

namespace troupe {

/// A tensor as channels: `images` blocks, in each of which every one of the `channels` has `area` elements. With channels last
/// there is one block, and the elements of a channel stand apart.
struct Channels {
  size_t images = 0, channels = 0, area = 0;
  bool last = true;

  size_t count() const { return images * area; }  ///< elements of one channel
};

/// y = (x - mean) / sqrt(variance + epsilon) scale + offset, by channel.
struct BatchNormArguments {
  const Tensor &x, &scale, &offset;
  const Tensor &mean,
      &variance;  ///< given; in training they are averaged with those of x unless average is 1
  Tensor& y;
  Tensor &batch_mean, &batch_variance;  ///< new averages in training, else those given
  Tensor &saved_mean,
      &saved_variance;  ///< those that y was computed with, the variance as the mean of squares
  Tensor* unused;       ///< null, or a scalar that becomes 0
  Channels channels;
  float epsilon, average;  ///< average: how much the statistics of x count in the new averages
  bool training;
};
Result<BatchNormArguments> check_batch_norm(KernelContext& context);

/// The gradients by x, scale and offset. In training, mean and variance are those of x.
struct BatchNormGradArguments {
  const Tensor &gradient, &x, &scale, &mean, &variance;
  Tensor &x_gradient, &scale_gradient, &offset_gradient;
  Channels channels;
  float epsilon;
  bool training;
};
Result<BatchNormGradArguments> check_batch_norm_grad(KernelContext& context);

/// Returns scale / sqrt(variance + epsilon) for each channel. Both are vectors of floats.
std::vector<float> normalizing_factors(const Tensor& scale, const Tensor& variance, float epsilon);

// What the node's attributes say.
inline bool channels_are_last(const Node& node) {
  return node.attrs.get<std::string>("data_format").back() == 'C';
}
inline bool is_training(const Node& node) { return node.attrs.get<bool>("is_training"); }

/// Of FusedBatchNorm and of FusedBatchNormGrad, all versions.
void batch_norm_gradient(GradientContext& context);
void batch_norm_grad_gradient(GradientContext& context);

}  // namespace troupe
