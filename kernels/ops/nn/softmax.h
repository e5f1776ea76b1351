// Softmax and LogSoftmax: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Each row of the output, along the last axis, is a function of that row of the logits.
struct SoftmaxArguments {
  const Tensor& logits;  ///< may be `output`, which is then computed in place
  Tensor& output;        ///< of the shape and dtype of the logits
};

/// For Softmax and LogSoftmax. InvalidArgument when the logits are a scalar.
Result<SoftmaxArguments> check_softmax(KernelContext& context);

}  // namespace troupe
