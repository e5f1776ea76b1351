// Where: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check. The number of rows of the output depends on the elements, so
// the kernel measures first (make_measured_kernel).
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Row i of `index` holds the coordinates of the i-th element of `input` that is not zero, in row-major order. A NaN is not
/// zero. Measuring sets `count`; computing sets `index`.
struct WhereArguments {
  const Tensor& input;
  int64_t count = 0;  ///< the number of elements that are not zero
  /// Memory that measuring allocates to pass results to computing; each type of device uses it in its own way.
  Tensor scratch = {};
  Tensor* index = nullptr;  ///< int64 [count, rank of input]
};

Result<WhereArguments> check_where(KernelContext& context);
/// Allocates the output after measuring.
Status allocate_where(WhereArguments& arguments, KernelContext& context);

}  // namespace troupe
