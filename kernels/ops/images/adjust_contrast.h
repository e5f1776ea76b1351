// AdjustContrast and AdjustContrastv2: the check on the host, and the arguments that it returns to the compute function of each
// type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include <limits>

#include "kernels/core/checked_kernel.h"

namespace troupe {

struct ContrastArguments {
  const Tensor& images;  ///< [..., height, width, channels]
  Tensor& output;
  float factor;
  float least = -std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::infinity();

  size_t dim(size_t from_end) const {
    const auto dims = images.shape().dims();
    return static_cast<size_t>(dims[dims.size() - from_end]);
  }
};

/// Fails with InvalidArgument if images has less than three dimensions or another input is no scalar.
Result<ContrastArguments> check_contrast(KernelContext& context);

}  // namespace troupe
