// LRN and LRNGrad: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// How the channels of a pixel are normalised.
struct Normalization {
  size_t depth, radius;  ///< radius < depth
  float bias, alpha, beta;

  size_t window() const { return 2 * radius + 1; }
  size_t padded() const { return depth + 2 * radius; }
};

struct LrnArguments {
  /// The image; for the gradient input_grads, input_image and output_image.
  std::vector<const Tensor*> inputs;
  Tensor& output;
  Normalization normalization;
};

/// Fails with InvalidArgument for images of another rank than 4, inputs of different shapes, and a negative radius.
Result<LrnArguments> check_lrn(KernelContext& context);

}  // namespace troupe
