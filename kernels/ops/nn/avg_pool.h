// Average pooling: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {

/// AvgPool: `from` has the dimensions pooling.input, `to` pooling.output. AvgPoolGrad: the other way round.
struct AvgPoolArguments {
  const Tensor& from;
  Tensor& to;
  Pooling pooling;
};
Result<AvgPoolArguments> check_avg_pool(KernelContext& context);
Result<AvgPoolArguments> check_avg_pool_grad(KernelContext& context);

/// Computes the mean of each window of tensors of float or double.
void pool_averages(Pool& pool, const Pooling& pooling, const Tensor& input, Tensor& output);

}  // namespace troupe
