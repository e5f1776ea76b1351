// AddN: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// sum = all terms, added in their order. The terms have the dtype and shape of the sum.
struct AddNArguments {
  std::vector<const std::byte*> terms;
  /// May be the memory of terms[0]. Null if there is one term: that term is the output and nothing is computed.
  Tensor* sum;
};

/// Fails with InvalidArgument if the inputs differ in shape.
Result<AddNArguments> check_add_n(KernelContext& context);

/// Adds the terms on a GPU. Fails with Unimplemented if they are no floating-point numbers.
Status add_n_on_gpu(const AddNArguments& arguments, DeviceContext& device);

}  // namespace troupe
