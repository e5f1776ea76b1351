#include "apps/nn/ragged/splits.h"
#include "kernels/constructors.h"

namespace troupe::nn::ragged {

Output rows(const Scope& scope, const Ragged& x) {
  const DType dtype = index_type(scope, x.row_splits, "rows");
  return sub(scope, first_size(scope, x.row_splits, dtype), 1);
}

Output row_lengths(const Scope& scope, const Ragged& x) {
  return sub(scope, part(scope, x.row_splits, 1, 0), part(scope, x.row_splits, 0, 1));
}

Output row_ids(const Scope& scope, const Ragged& x) {
  const DType dtype = index_type(scope, x.row_splits, "row_ids");
  const Output places = numbers(scope, first_size(scope, x.values, dtype));
  const Output ends =
      upper_bound(scope, expand_dims(scope, x.row_splits, 0), expand_dims(scope, places, 0), dtype);
  return sub(scope, reshape(scope, ends, {-1}), 1);
}

Ragged gather_rows(const Scope& scope, const Ragged& x, Output numbers) {
  const NodeId taken = scope.add("RaggedGather", {x.row_splits, x.values, numbers},
                                 {{"PARAMS_RAGGED_RANK", int64_t{1}}, {"OUTPUT_RAGGED_RANK", int64_t{1}}});
  return {{taken, 1}, {taken, 0}};
}

NestedRagged gather_rows(const Scope& scope, const NestedRagged& x, Output numbers) {
  const NodeId taken = scope.add("RaggedGather", {x.row_splits, x.rows.row_splits, x.rows.values, numbers},
                                 {{"PARAMS_RAGGED_RANK", int64_t{2}}, {"OUTPUT_RAGGED_RANK", int64_t{2}}});
  return {{{taken, 2}, {taken, 1}}, {taken, 0}};
}

Output spread(const Scope& scope, Output of_rows, const Ragged& x) {
  return gather(scope, of_rows, row_ids(scope, x));
}

Ragged concat_batch(const Scope& scope, const std::vector<Ragged>& parts) {
  if (parts.empty()) throw Error(invalid_argument("ragged::concat_batch: there must be at least one tensor"));
  if (parts.size() == 1) return parts.front();
  std::vector<Output> values, splits = {parts.front().row_splits};
  Output before = {};
  for (size_t i = 0; i < parts.size(); ++i) {
    const Ragged& one = parts[i];
    values.push_back(one.values);
    if (i != 0) splits.push_back(add(scope, part(scope, one.row_splits, 1, 0), before));
    const Output size = first_size(scope, one.values, index_type(scope, one.row_splits, "concat_batch"));
    before = i == 0 ? size : add(scope, before, size);
  }
  return {concat(scope, values, 0), concat(scope, splits, 0)};
}

/// Takes from all rows, one tensor after the other, row 0 of each tensor, then row 1 of each, and leaves out the splits between
/// the rows of one number.
Ragged concat_rows(const Scope& scope, const std::vector<Ragged>& parts) {
  const Ragged all = concat_batch(scope, parts);
  if (parts.size() == 1) return all;
  const auto count = static_cast<int64_t>(parts.size());
  const Output each = rows(scope, parts.front());
  std::vector<Output> same;
  for (size_t i = 1; i < parts.size(); ++i) same.push_back(equal(scope, rows(scope, parts[i]), each));
  const Output number = checked(scope, numbers(scope, rows(scope, all)), same, {each});
  const Output order = reshape(scope, transpose(scope, reshape(scope, number, {count, -1}), {1, 0}), {-1});
  const Ragged sorted = gather_rows(scope, all, order);
  return {sorted.values, strided_slice(scope, sorted.row_splits, {0}, {0}, {count}, 0, 1)};
}

Ragged merge_rows(const Scope& scope, const NestedRagged& x) {
  return {x.rows.values, gather(scope, x.rows.row_splits, x.row_splits)};
}

}  // namespace troupe::nn::ragged
