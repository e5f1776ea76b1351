// LeakyRelu and LeakyReluGrad: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// output[i] = values[i], times alpha where features[i] is not above 0. All have one shape and dtype.
struct LeakyReluArguments {
  const Tensor& values;    ///< LeakyRelu: the features; LeakyReluGrad: the gradients
  const Tensor& features;  ///< the last input
  Tensor& output;
  float alpha;  ///< rounded to the dtype before it multiplies
};

/// For LeakyRelu and LeakyReluGrad. InvalidArgument when gradients and features differ in shape.
Result<LeakyReluArguments> check_leaky_relu(KernelContext& context);

}  // namespace troupe
