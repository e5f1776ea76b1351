// Bincount and DenseBincount: the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Bin k of a row is the sum of the weights of the numbers of the row that are k; others count nowhere. Numbers are not checked
/// yet: the compute function fails with InvalidArgument if one is negative.
struct BincountArguments {
  const Tensor& numbers;  ///< int32 or int64 [rows, ...]
  const Tensor* weights;  ///< as many elements; null: each weighs 1
  Tensor& bins;           ///< int32, int64, float or double [rows, size]
  const char* name;       ///< of the argument that holds the numbers
  size_t rows, size;
  bool binary;  ///< a bin is 1 if it has a number
};

/// Fails with InvalidArgument if size is no scalar or negative, the weights do not fit the numbers, or these have too many
/// dimensions.
Result<BincountArguments> check_bincount(KernelContext& context);

}  // namespace troupe
