// Embedding lookups: the rows of a table, usually a partitioned variable, whose numbers are given (features.md P4). An id that
// occurs several times is looked up once: one Gather for each part runs where the part is, and only the rows that are needed
// travel. The gradient of each part is its rows, each once. Semantics of TensorFlow's functions of these names. They use only
// the public builder and throw Error as it does. Steps fail with InvalidArgument, which says the range, if an id is none of a
// row. Public header; one thread at a time per graph.
#pragma once

#include <optional>
#include <string_view>

#include "apps/nn/partitioned_variable.h"
#include "apps/nn/ragged/ragged.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Returns row ids[...] of the table [rows, ...] for each id, int32 or int64: [ids..., ...]. With `max_norm` not 0, rows whose
/// L2 norm is larger are scaled to that norm.
Output embedding_lookup(const Scope& scope, const PartitionedVariable& table, Output ids,
                        double max_norm = 0);

/// How the rows of several ids become one.
enum class Combiner : uint8_t {
  Sum,
  Mean,   ///< the sum divided by the sum of the weights
  SqrtN,  ///< the sum divided by the root of the sum of the squares of the weights
};
/// Finds a combiner by its name: "sum", "mean" or "sqrtn". Throws InvalidArgument if there is none.
Combiner combiner(std::string_view name);

struct SparseLookup {
  Combiner combiner = Combiner::Mean;
  std::optional<Output> weights = {};  ///< of each id, in the order of the ids' values; default: all are 1
  double max_norm = 0;                 ///< see embedding_lookup()
};
/// Returns [rows, ...]: the combined rows of the ids in each row of a sparse matrix of ids. Its indices must be in row-major
/// order, and the last row must have an id; rows without ids in between are zeros, or NaN if they are weighted.
Output embedding_lookup_sparse(const Scope& scope, const PartitionedVariable& table,
                               const ragged::Sparse& ids, const SparseLookup& options = {});
/// Does the same for ids of any rank of at least 1, along the last dimension, and leaves out ids below 0 and, unless the
/// combiner is Sum, ids whose weight is not above 0. Where no ids are left, the result is the row of `otherwise`, or zeros
/// without it.
Output safe_embedding_lookup_sparse(const Scope& scope, const PartitionedVariable& table,
                                    const ragged::Sparse& ids, const SparseLookup& options = {},
                                    std::optional<int64_t> otherwise = {});

/// Where rows are: the numbers of their parts, and their numbers inside these.
struct RowPlaces {
  Output part, row;  ///< of the type and shape of the ids
};
RowPlaces places_of(const Scope& scope, const PartitionedVariable& table, Output ids);

}  // namespace troupe::nn
#pragma GCC visibility pop
