// RGBToHSV, HSVToRGB, AdjustHue and AdjustSaturation: the check on the host, and the arguments that it returns to the compute
// function of each type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

struct ColorArguments {
  const Tensor& images;  ///< the last dimension is 3
  Tensor& output;
  float amount;  ///< delta or scale
};

/// Fails with InvalidArgument if images does not consist of pixels of three channels.
Result<ColorArguments> check_colors(KernelContext& context);

}  // namespace troupe
