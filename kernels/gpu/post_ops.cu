#include "kernels/gpu/post_ops.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/launch.h"

namespace troupe::gpu {
namespace {

struct PostStages {
  float* out;
  Divider channels;
  const float *offset, *scale, *mean, *variance, *added;  // null where a stage is left out
  float epsilon;
  bool relu;

  TROUPE_ANY void operator()(size_t i) const {
    float value = out[i];
    if (offset) {
      size_t row = i;
      const size_t channel = split(channels, row);
      if (scale)
        value = (value - mean[channel]) * (scale[channel] * (1 / std::sqrt(variance[channel] + epsilon)));
      value += offset[channel];
    }
    if (added) value += added[i];
    out[i] = relu && value < 0 ? 0 : value;
  }
};

}  // namespace

Status apply_post_ops(DeviceContext& device, const PostArguments& post, Tensor& out) {
  if (out.elements() == 0 || !(post.offset || post.added || post.relu)) return {};
  const auto data = [](const Tensor* tensor) { return tensor ? tensor->as<float>().data() : nullptr; };
  const PostStages stages{out.write<float>().data(),
                          Divider(static_cast<size_t>(out.shape().dims().back())),
                          data(post.offset),
                          data(post.scale),
                          data(post.mean),
                          data(post.variance),
                          data(post.added),
                          post.epsilon,
                          post.relu};
  return each(device, static_cast<size_t>(out.elements()), stages);
}

}  // namespace troupe::gpu
