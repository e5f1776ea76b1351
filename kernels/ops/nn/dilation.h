// Dilation2D and its gradients: the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/nn/windows.h"

namespace troupe {

using ImageWindows = ShortList<WindowDimension>;  ///< of height and width

/// Each window of the input, added to the filter, has a greatest sum for each channel; of equal sums the first counts. The output
/// has these sums, or the gradient of the input or of the filter, where the sums came from.
struct DilationArguments {
  const Tensor &input, &filter;
  const Tensor* gradient;  ///< null in the forward op
  Tensor& output;
  ImageWindows windows;
};

/// Fails with InvalidArgument if the shapes do not fit each other, or as window_dimension() says.
Result<DilationArguments> check_dilation(KernelContext& context);

}  // namespace troupe
