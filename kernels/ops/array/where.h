// Where: what every type of device computes after the check on the host. How many rows the output has is known only after a device
// has looked at the elements, so the kernel measures first (make_measured_kernel).
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Row i of `index` has the coordinates of the i-th element of `input` that is not zero, in row-major order. A NaN is not zero.
/// Measuring sets `count`; computing sets `index`.
struct WhereArguments {
  const Tensor& input;
  int64_t count = 0;  ///< how many elements are not zero
  Tensor scratch =
      {};  ///< allocated by measuring, for what it leaves to computing: each type of device has its own use for it
  Tensor* index = nullptr;  ///< int64 [count, rank of input]
};

Result<WhereArguments> check_where(KernelContext& context);
/// Allocates the output after measuring.
Status allocate_where(WhereArguments& arguments, KernelContext& context);

}  // namespace troupe
