// Lookups of sparse ids (apps/nn/embedding_lookup.h).
#include "apps/nn/as_type.h"
#include "apps/nn/distinct_lookup.h"
#include "apps/nn/embedding_lookup.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

using ragged::Sparse;

/// Returns the number of the row of each id.
Output row_numbers(const Scope& scope, const Sparse& ids) {
  return cast(scope, reshape(scope, slice(scope, ids.indices, {0, 0}, {-1, 1}), {-1}), i32);
}

Output combined(const Scope& scope, const DistinctLookup& found, Output rows, Combiner combiner) {
  switch (combiner) {
    case Combiner::Sum: return sparse_segment_sum(scope, found.rows, found.at, rows);
    case Combiner::Mean: return sparse_segment_mean(scope, found.rows, found.at, rows);
    default: return sparse_segment_sqrt_n(scope, found.rows, found.at, rows);
  }
}

Output combined(const Scope& scope, const DistinctLookup& found, Output rows, Combiner combiner,
                Output weights) {
  const auto segment_sum = [&](Output x) { return scope.add_one("SegmentSum", {x, rows}); };
  std::vector<int64_t> column(scope.shape(found.rows).rank(), 1);
  column[0] = -1;
  weights = reshape(scope, as_type(scope, weights, scope.dtype(found.rows)), Argument(column));
  const Output sums = segment_sum(mul(scope, gather(scope, found.rows, found.at), weights));
  switch (combiner) {
    case Combiner::Sum: return sums;
    case Combiner::Mean: return div(scope, sums, segment_sum(weights));
    default: return div(scope, sums, sqrt(scope, segment_sum(square(scope, weights))));
  }
}

// ---- safe_embedding_lookup_sparse

/// Sparse ids with their weights.
struct WeightedIds {
  Sparse ids;
  std::optional<Output> weights;
};

/// Keeps the ids for which `keep`, a vector, is true.
WeightedIds retained(const Scope& scope, const WeightedIds& x, Output keep) {
  const Output at = reshape(scope, scope.add_one("Where", {keep}), {-1});
  WeightedIds result{{gather(scope, x.ids.indices, at), gather(scope, x.ids.values, at), x.ids.dense_shape},
                     {}};
  if (x.weights) result.weights = gather(scope, *x.weights, at);
  return result;
}

/// Returns the dimensions of sparse ids without the last one.
Output leading_dims(const Scope& scope, const Sparse& ids) {
  const Output count = expand_dims(scope, sub(scope, size(scope, ids.dense_shape), 1), 0);
  return slice(scope, ids.dense_shape, {0}, count);
}

/// Returns the ids as a matrix whose first dimension stands for all but the last of theirs.
Sparse as_matrix(const Scope& scope, const Sparse& ids, Output leading) {
  const Output last = gather(scope, ids.dense_shape, sub(scope, size(scope, ids.dense_shape), 1));
  const Output shape = stack(scope, {prod(scope, leading, 0), last});
  const NodeId reshaped = scope.add("SparseReshape", {ids.indices, ids.dense_shape, shape});
  return {{reshaped, 0}, ids.values, {reshaped, 1}};
}

/// Sparse ids of which every row has at least one.
struct FilledIds {
  WeightedIds all;
  Output was_empty;  ///< for each row
};

FilledIds filled(const Scope& scope, const WeightedIds& x, int64_t otherwise) {
  const auto fill = [&](Output values, double with) {
    const Output value = cast(scope, with, scope.dtype(values));
    return scope.add("SparseFillEmptyRows", {x.ids.indices, values, x.ids.dense_shape, value});
  };
  const NodeId ids = fill(x.ids.values, static_cast<double>(otherwise));
  FilledIds result{{{{ids, 0}, {ids, 1}, x.ids.dense_shape}, {}}, {ids, 2}};
  if (x.weights) result.all.weights = Output{fill(*x.weights, 1), 1};
  return result;
}

}  // namespace

Combiner combiner(std::string_view name) {
  if (name == "sum") return Combiner::Sum;
  if (name == "mean") return Combiner::Mean;
  if (name == "sqrtn") return Combiner::SqrtN;
  throw Error(invalid_argument("there is no combiner '" + std::string(name) +
                               "'; it must be 'sum', 'mean' or 'sqrtn'"));
}

Output embedding_lookup_sparse(const Scope& scope, const PartitionedVariable& table, const Sparse& ids,
                               const SparseLookup& options) {
  const Scope inner = scope.with_prefix("embedding_lookup_sparse");
  DistinctLookup found = look_up_distinct(inner, table, ids.values, options.max_norm);
  const DType dtype = inner.dtype(found.rows);
  if (dtype == DType::Half || dtype == DType::BFloat16) found.rows = cast(inner, found.rows, f32);
  const Output rows = row_numbers(inner, ids);
  return options.weights ? combined(inner, found, rows, options.combiner, *options.weights)
                         : combined(inner, found, rows, options.combiner);
}

Output safe_embedding_lookup_sparse(const Scope& scope, const PartitionedVariable& table, const Sparse& ids,
                                    const SparseLookup& options, std::optional<int64_t> otherwise) {
  const Scope inner = scope.with_prefix("safe_embedding_lookup_sparse");
  const Output leading = leading_dims(inner, ids);
  WeightedIds kept{as_matrix(inner, ids, leading), options.weights};
  kept = retained(inner, kept, greater_equal(inner, kept.ids.values, 0));
  if (kept.weights && options.combiner != Combiner::Sum)
    kept = retained(inner, kept, greater(inner, *kept.weights, 0));
  const FilledIds full = filled(inner, kept, otherwise.value_or(0));
  SparseLookup lookup = options;
  lookup.weights = full.all.weights;
  Output result = embedding_lookup_sparse(inner, table, full.all.ids, lookup);
  if (!otherwise) result = where(inner, full.was_empty, zeros_like(inner, result), result);
  const Output row = slice(inner, shape(inner, result), {1}, {-1});
  return reshape(inner, result, concat(inner, {cast(inner, leading, i32), row}, 0));
}

}  // namespace troupe::nn
