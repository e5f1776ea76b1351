// ReverseSequence: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Both resolved, and different.
struct SequenceAxes {
  size_t sequence, batch;
};

/// output = input, in which of each entry of the batch the first elements along the sequence are reversed.
struct ReverseSequenceArguments {
  const Tensor& input;
  const Tensor& lengths;  ///< int32 or int64: one for each entry of the batch; not checked yet
  Tensor& output;
  SequenceAxes axes;
};

/// Fails with InvalidArgument if the axes are out of range or equal, or there is not one length for each entry.
Result<ReverseSequenceArguments> check_reverse_sequence(KernelContext& context);

}  // namespace troupe
