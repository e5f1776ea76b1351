// LeakyRelu and LeakyReluGrad: the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// output[i] = values[i], multiplied by alpha if features[i] is not above 0. All have one shape and dtype.
struct LeakyReluArguments {
  const Tensor& values;    ///< for LeakyRelu the features, for LeakyReluGrad the gradients
  const Tensor& features;  ///< the last input
  Tensor& output;
  float alpha;  ///< rounded to the dtype before the multiplication
};

/// Checks LeakyRelu and LeakyReluGrad. Fails with InvalidArgument if gradients and features differ in shape.
Result<LeakyReluArguments> check_leaky_relu(KernelContext& context);

}  // namespace troupe
