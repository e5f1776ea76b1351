// Softmax and LogSoftmax: the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Each row of the output, along the last axis, is a function of the same row of the logits.
struct SoftmaxArguments {
  const Tensor& logits;  ///< may be `output`; the rows are then computed in place
  Tensor& output;        ///< has the shape and dtype of the logits
};

/// Checks Softmax and LogSoftmax. Fails with InvalidArgument if the logits are a scalar.
Result<SoftmaxArguments> check_softmax(KernelContext& context);

}  // namespace troupe
