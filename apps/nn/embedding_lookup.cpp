#include "apps/nn/embedding_lookup.h"

#include <algorithm>

#include "apps/nn/distinct_lookup.h"
#include "graph/build/gradient_attrs.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Scales rows whose L2 norm is larger than `max_norm` to that norm.
Output clipped_rows(const Scope& scope, Output rows, double max_norm) {
  if (max_norm == 0) return rows;
  if (!(max_norm > 0))
    throw Error(invalid_argument("max_norm is " + std::to_string(max_norm) + "; it must not be below 0"));
  std::vector<int64_t> axes;
  for (size_t axis = 1; axis < scope.shape(rows).rank(); ++axis) axes.push_back(static_cast<int64_t>(axis));
  const Output squares = sum(scope, square(scope, rows), axes, true);
  // The gradient of the root of 0 is infinite; it must not reach the rows.
  const Output is_positive = greater(scope, squares, 0);
  const Output root = sqrt(scope, where_v2(scope, is_positive, squares, 1));
  const Output norms = where_v2(scope, is_positive, root, squares);
  return div(scope, mul(scope, rows, max_norm), maximum(scope, norms, max_norm));
}

/// Returns `x` with the shape of `like`.
Output reshaped_like(const Scope& scope, Output x, Output like) {
  const PartialShape& target = scope.shape(like);
  if (target.known_rank() && std::ranges::count(target.dims(), unknown_dim) <= 1)
    return reshape(scope, x, Argument(std::vector<int64_t>(target.dims().begin(), target.dims().end())));
  return reshape(scope, x, shape(scope, like));
}

/// Returns the parts of a vector by the numbers of the parts. No two of its elements that go to one part are equal.
std::vector<Output> parted(const Scope& scope, Output vector, Output part, int64_t count) {
  return scope.outputs(scope.add_one("DynamicPartition", {vector, part},
                                     {{"num_partitions", count}, {std::string(distinct_attr), true}}));
}

/// Returns the rows of distinct ids that are known to be in the table.
Output gathered(const Scope& scope, const PartitionedVariable& table, Output ids) {
  const auto from = [&](Output part, Output rows) { return gather(beside(scope, part), part, rows); };
  if (table.count() == 1) return from(table.parts[0], ids);
  const RowPlaces at = places_of(scope, table, ids);
  const Output part = cast(scope, at.part, i32);
  const auto rows = parted(scope, at.row, part, table.count());
  const auto positions = parted(scope, range(scope, 0, size(scope, ids)), part, table.count());
  std::vector<Output> found;
  for (size_t i = 0; i < table.parts.size(); ++i) found.push_back(from(table.parts[i], rows[i]));
  return parallel_dynamic_stitch(scope, positions, found);
}

}  // namespace

RowPlaces places_of(const Scope& scope, const PartitionedVariable& table, Output ids) {
  const int64_t count = table.count(), each = table.shape[0] / count, extras = table.shape[0] % count;
  if (table.strategy == PartitionStrategy::Mod)
    return {floor_mod(scope, ids, count), floor_div(scope, ids, count)};
  if (extras == 0) return {floor_div(scope, ids, each), floor_mod(scope, ids, each)};
  // The first parts, `extras` of them, have one row more than the others.
  const Output later = sub(scope, ids, extras);
  const Output part = maximum(scope, floor_div(scope, ids, each + 1), floor_div(scope, later, each));
  const Output row = where_v2(scope, less(scope, part, extras), floor_mod(scope, ids, each + 1),
                              floor_mod(scope, later, each));
  return {part, row};
}

Output range_check(const Scope& scope, const PartitionedVariable& table, Output ids) {
  const Output least = min(scope, ids, 0), greatest = max(scope, ids, 0);
  // If the greatest id is less than -1, the least one is negative, or there are no ids.
  const Output left = sub(scope, table.shape[0] - 1, maximum(scope, greatest, -1));
  const Output all_inside = greater_equal(scope, minimum(scope, least, left), 0);
  const auto text = [&](const std::string& value) {
    return scope.constant(Tensor::scalar<std::string>(value));
  };
  return assert_that(scope, all_inside,
                     {text("the ids for '" + table.name + "' are from "), least, text(" to "), greatest,
                      text("; they must be from 0 to " + std::to_string(table.shape[0] - 1))});
}

DistinctLookup look_up_distinct(const Scope& scope, const PartitionedVariable& table, Output ids,
                                double max_norm) {
  const DType given = scope.dtype(ids);
  const bool is_narrow = is_integer(given) && given != DType::Int32 && given != DType::Int64;
  const auto distinct = scope.outputs(unique(scope, is_narrow ? cast(scope, ids, DType::Int64) : ids));
  const Output checked = scope.with_control({range_check(scope, table, distinct[0])})
                             .add_one("Identity", {distinct[0]}, {{std::string(distinct_attr), true}});
  const Output rows = gathered(scope, table, checked);
  return {clipped_rows(scope, rows, max_norm), distinct[1]};
}

Output embedding_lookup(const Scope& scope, const PartitionedVariable& table, Output ids, double max_norm) {
  const Scope inner = scope.with_prefix("embedding_lookup");
  const bool is_vector = inner.shape(ids).has_rank(1);
  const DistinctLookup found =
      look_up_distinct(inner, table, is_vector ? ids : reshape(inner, ids, {-1}), max_norm);
  return gather(inner, found.rows, is_vector ? found.at : reshaped_like(inner, found.at, ids));
}

}  // namespace troupe::nn
