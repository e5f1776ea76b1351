#include "apps/nn/ragged/splits.h"
#include "kernels/constructors.h"

namespace troupe::nn::ragged {
namespace {

/// Makes a matrix of one row, as the ops that search in sorted lists take it.
Output as_row(const Scope& s, Output vector) { return expand_dims(s, vector, 0); }

}  // namespace

Ragged from_row_splits(const Scope& scope, Output values, Output row_splits) {
  const DType dtype = index_type(scope, row_splits, "from_row_splits");
  const Output ends = concat(
      scope, {slice(scope, row_splits, {0}, {1}), slice(scope, reverse(scope, row_splits, {0}), {0}, {1})},
      0);
  const Output whole = pad(scope, expand_dims(scope, first_size(scope, values, dtype), 0), {{1, 0}});
  return {values, checked(scope, row_splits,
                          {equal(scope, ends, whole), greater_equal(scope, part(scope, row_splits, 1, 0),
                                                                    part(scope, row_splits, 0, 1))},
                          {row_splits, whole})};
}

Ragged from_lengths(const Scope& scope, Output values, Output lengths) {
  const DType dtype = index_type(scope, lengths, "from_lengths");
  const Output size = first_size(scope, values, dtype);
  const Output splits = splits_of(
      scope, checked(scope, lengths,
                     {greater_equal(scope, lengths, 0), equal(scope, troupe::sum(scope, lengths, {0}), size)},
                     {lengths, size}));
  return {values, splits};
}

Ragged from_row_ids(const Scope& scope, Output values, Output row_ids, Output rows) {
  const DType dtype = index_type(scope, row_ids, "from_row_ids");
  const Output ascending = greater_equal(scope, part(scope, row_ids, 1, 0), part(scope, row_ids, 0, 1)),
               inside = logical_and(scope, greater_equal(scope, row_ids, 0), less(scope, row_ids, rows)),
               same_size = equal(scope, first_size(scope, row_ids, dtype), first_size(scope, values, dtype));
  const Output ids = checked(scope, row_ids, {ascending, inside, same_size}, {row_ids, rows});
  const Output splits =
      lower_bound(scope, as_row(scope, ids), as_row(scope, numbers(scope, add(scope, rows, 1))), dtype);
  return {values, reshape(scope, splits, {-1})};
}

Ragged from_dense(const Scope& scope, Output dense, Output lengths) {
  const DType dtype = index_type(scope, lengths, "from_dense");
  const Output sizes = shape(scope, dense, dtype);
  const Output longest = strided_slice(scope, sizes, {1}, {2}, {1}, 0, 0, 0, 0, 1);
  const Output fitting =
      checked(scope, lengths,
              {greater_equal(scope, lengths, 0), less_equal(scope, lengths, longest),
               equal(scope, first_size(scope, lengths, dtype), first_size(scope, dense, dtype))},
              {lengths, sizes});
  const Output inside = less(scope, as_row(scope, numbers(scope, longest)), expand_dims(scope, fitting, 1));
  const Output values = scope.add_one("GatherNd", {dense, scope.add_one("Where", {inside})});
  return {values, splits_of(scope, fitting)};
}

Ragged from_sparse(const Scope& scope, Output indices, Output values, Output dense_shape) {
  const Output rows = strided_slice(scope, dense_shape, {0}, {1}, {1}, 0, 0, 0, 0, 1);
  const auto column = [&](int64_t number) {
    return reshape(scope, slice(scope, indices, {int64_t{0}, number}, {-1, 1}), {-1});
  };
  const Output ids = column(0), places = column(1);
  const Ragged x = from_row_ids(scope, values, ids, rows);
  const Output begins = gather(scope, x.row_splits, ids);
  const Output expected = sub(scope, numbers(scope, first_size(scope, values, i64)), begins);
  return {values, checked(scope, x.row_splits, {equal(scope, places, expected)}, {indices})};
}

}  // namespace troupe::nn::ragged
