// Writing rows of variables: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {

/// variable.after = variable.before, but row rows.numbers[i] is replaced by row i of updates or combined with it, for every i in
/// order. A scalar in `updates` stands for rows filled with it.
struct ScatterArguments {
  NewValue variable;
  const Tensor& updates;  ///< as many rows of rows.row elements as there are numbers, or a scalar
  NamedRows rows;         ///< a row is what one number names: checked, may repeat
};

/// For ScatterUpdate, ScatterAdd and their kin, whose indices number the rows of the first dimension. InvalidArgument when the
/// variable is a scalar, updates has another shape, or an index is out of range.
Result<ScatterArguments> check_scatter(KernelContext& context);
/// For the ScatterNd ops, whose indices are positions in the first dimensions.
Result<ScatterArguments> check_scatter_nd_update(KernelContext& context);

}  // namespace troupe
