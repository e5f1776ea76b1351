#include "apps/nn/ragged/splits.h"
#include "kernels/constructors.h"

namespace troupe::nn::ragged {
namespace {

/// Makes a matrix of one row, as the ops that search in sorted lists take it.
Output as_row(const Scope& s, Output vector) { return expand_dims(s, vector, 0); }

Output text(const Scope& scope, const std::string& value) {
  return scope.constant(Tensor::scalar<std::string>(value));
}

Output check_begin(const Scope& scope, Output splits) {
  const Output begin = slice(scope, splits, {0}, {1});
  return assert_that(scope, all(scope, equal(scope, begin, 0)),
                     {text(scope, "row_splits must begin with 0, but begins with"), begin});
}

Output check_end(const Scope& scope, Output splits, Output size) {
  const Output end = slice(scope, reverse(scope, splits, {0}), {0}, {1});
  return assert_that(scope, all(scope, equal(scope, end, size)),
                     {text(scope, "row_splits must end with the number of values,"), size,
                      text(scope, "but ends with"), end});
}

/// An error shows the first positions of splits that are less than the ones before, and both.
Output check_no_fall(const Scope& scope, Output splits) {
  const Output earlier = part(scope, splits, 0, 1), later = part(scope, splits, 1, 0);
  const Output falls = less(scope, later, earlier);
  const Output places = reshape(scope, scope.add_one("Where", {falls}), {-1});
  return assert_that(scope, logical_not(scope, any(scope, falls)),
                     {text(scope, "row_splits must not fall, but at the positions"), add(scope, places, 1),
                      text(scope, "falls from"), gather(scope, earlier, places), text(scope, "to"),
                      gather(scope, later, places)});
}

}  // namespace

Ragged from_row_splits(const Scope& scope, Output values, Output row_splits) {
  const DType dtype = index_type(scope, row_splits, "from_row_splits");
  const std::vector<Output> checks = {check_begin(scope, row_splits),
                                      check_end(scope, row_splits, first_size(scope, values, dtype)),
                                      check_no_fall(scope, row_splits)};
  return {values, scope.with_control(checks).add_one("Identity", {row_splits})};
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
