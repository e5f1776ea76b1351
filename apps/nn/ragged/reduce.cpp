#include "apps/nn/ragged/splits.h"
#include "kernels/constructors.h"

namespace troupe::nn::ragged {
namespace {

/// Returns the lengths of the rows in a shape in which they broadcast with one element for each row.
Output lengths_beside(const Scope& scope, const Ragged& x, const std::string& function) {
  const PartialShape& shape = scope.shape(x.values);
  if (!shape.known_rank())
    throw Error(invalid_argument("ragged::" + function +
                                 ": the rank of the values is not known; ensure_shape() can say it"));
  std::vector<int64_t> column(shape.rank(), 1);
  column[0] = -1;
  return reshape(scope, row_lengths(scope, x), column);
}

/// Returns `value`, with 0 for rows without elements.
Output or_zero(const Scope& scope, const Ragged& x, const std::string& function, Output value) {
  const Output is_empty = equal(scope, lengths_beside(scope, x, function), 0);
  return where_v2(scope, is_empty, zeros_like(scope, value), value);
}

}  // namespace

Output sum(const Scope& scope, const Ragged& x) {
  return unsorted_segment_sum(scope, x.values, row_ids(scope, x), rows(scope, x));
}

Output mean(const Scope& scope, const Ragged& x) {
  const Output divisors = maximum(scope, lengths_beside(scope, x, "mean"), 1);
  return div(scope, sum(scope, x), cast(scope, divisors, scope.dtype(x.values)));
}

Output max(const Scope& scope, const Ragged& x) {
  const Output greatest = unsorted_segment_max(scope, x.values, row_ids(scope, x), rows(scope, x));
  return or_zero(scope, x, "max", greatest);
}

Output min(const Scope& scope, const Ragged& x) {
  const Output least = unsorted_segment_min(scope, x.values, row_ids(scope, x), rows(scope, x));
  return or_zero(scope, x, "min", least);
}

/// The greatest value of a row is subtracted first, so that no exponential overflows; the result does not depend on it.
Ragged softmax(const Scope& scope, const Ragged& x) {
  const Output ids = row_ids(scope, x), count = rows(scope, x);
  const Output greatest = unsorted_segment_max(scope, stop_gradient(scope, x.values), ids, count);
  const Output powers = exp(scope, sub(scope, x.values, gather(scope, greatest, ids)));
  const Output sums = unsorted_segment_sum(scope, powers, ids, count);
  return {div(scope, powers, gather(scope, sums, ids)), x.row_splits};
}

}  // namespace troupe::nn::ragged
