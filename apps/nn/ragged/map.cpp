#include "apps/nn/ragged/splits.h"
#include "kernels/constructors.h"

namespace troupe::nn::ragged {

Ragged lookup(const Scope& scope, Output weights, const Ragged& ids) {
  return {gather(scope, weights, ids.values), ids.row_splits};
}

Ragged matmul(const Scope& scope, const Ragged& x, Output matrix) {
  return {troupe::matmul(scope, x.values, matrix), x.row_splits};
}

Ragged map(const Scope& scope, const Ragged& x, const std::function<Output(const Scope&, Output)>& function) {
  return {function(scope, x.values), x.row_splits};
}

Ragged zip(const Scope& scope, const Ragged& x, const Ragged& y,
           const std::function<Output(const Scope&, Output, Output)>& function) {
  if (x.row_splits == y.row_splits) return {function(scope, x.values, y.values), x.row_splits};
  const DType dtype = index_type(scope, x.row_splits, "zip");
  const Output same_rows = equal(scope, rows(scope, x), cast(scope, rows(scope, y), dtype)),
               same_splits = equal(scope, x.row_splits, cast(scope, y.row_splits, dtype));
  const Output splits = checked(scope, x.row_splits, {same_rows, same_splits}, {x.row_splits, y.row_splits});
  return {function(scope.with_control({splits}), x.values, y.values), splits};
}

}  // namespace troupe::nn::ragged
