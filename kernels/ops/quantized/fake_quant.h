// FakeQuantWithMinMaxArgs, ..Vars, ..VarsPerChannel and their gradients: the check on the host, the arguments that it returns to
// the compute functions of each type of device (kernels/core/checked_kernel.h), and the arithmetic of a range. Any thread may call
// the functions.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"

namespace troupe {

struct FakeQuantArguments {
  const Tensor* gradients;  ///< null in the forward ops
  const Tensor& inputs;
  const Tensor *min, *max;  ///< null where attributes have the range
  float low, high;          ///< the range of the attributes
  float steps;              ///< the number of steps of the range, less one
  std::vector<Tensor*> outputs;
};

/// Fails with InvalidArgument if shapes or attributes do not fit. The tensors min and max are not read.
Result<FakeQuantArguments> check_fake_quant(KernelContext& context);

/// The range to which elements are rounded, after it was moved so that 0 is a step.
struct QuantRange {
  float low, high, step;
  bool passes;  ///< whether min and max are both 0

  TROUPE_ANY static QuantRange of(float min, float max, float steps) {
    if (min == 0 && max == 0) return {0, 0, 1, true};
    const float step = (max - min) / steps, below = -min / step;  // `below` steps are below 0
    const float zero = below < 0 ? 0 : below > steps ? steps : std::round(below);
    return {-zero * step, (steps - zero) * step, step, false};
  }
  /// Returns the step that is nearest to x.
  TROUPE_ANY static float rounded(float x, float low, float high, float step) {
    const float inside = x < low ? low : x > high ? high : x;
    return std::floor((inside - low) / step + 0.5F) * step + low;
  }
};

}  // namespace troupe
