// ApplyMovingAverage: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {

using AverageTypes = TypeList<Half, float, double>;

/// average.after = average.before - rate * (average.before - value)
struct MovingAverageArguments {
  NewValue average;
  Tensor value, rate;
};

/// Fails with InvalidArgument if the variables have different shapes or the rate is no scalar.
Result<MovingAverageArguments> check_moving_average(KernelContext& context);

}  // namespace troupe
