// AddN: what every type of device computes after the check on the host.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// sum = all terms, added in their order. The terms have the dtype and shape of the sum.
struct AddNArguments {
  std::vector<const std::byte*> terms;
  Tensor*
      sum;  ///< may lie in the memory of terms[0]; null for one term, which is the output: there is nothing to compute
};

/// InvalidArgument when inputs differ in shape.
Result<AddNArguments> check_add_n(KernelContext& context);

}  // namespace troupe
