// Writing rows of variables: the checks on the host, and the arguments that they return to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {

/// variable.after = variable.before, except that row rows.numbers[i] is replaced by row i of updates or combined with it, for
/// every i in order. If `updates` is a scalar, every row of it is filled with that scalar.
struct ScatterArguments {
  NewValue variable;
  const Tensor& updates;  ///< a row of rows.row elements for each number, or a scalar
  RowNumbers rows;        ///< the numbers are checked and may repeat
};

/// Checks ScatterUpdate, ScatterAdd and similar ops, whose indices are numbers of rows along the first dimension. Fails with
/// InvalidArgument if the variable is a scalar, updates has another shape, or an index is out of range.
Result<ScatterArguments> check_scatter(KernelContext& context);
/// Checks the ScatterNd ops, whose indices are positions in the first dimensions. Fails likewise.
Result<ScatterArguments> check_scatter_nd_update(KernelContext& context);

}  // namespace troupe
