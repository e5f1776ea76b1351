// A lookup of ids, each of which is looked up once however often it occurs: what dense and sparse lookups share
// (apps/nn/embedding_lookup.h). One thread at a time per graph.
#pragma once

#include "apps/nn/partitioned_variable.h"

namespace troupe::nn {

struct DistinctLookup {
  Output rows;  ///< of the distinct ids, in the order in which these occur first
  Output at;    ///< for each id the number of its row there, int32
};
/// `ids` is a vector.
DistinctLookup look_up_distinct(const Scope& scope, const PartitionedVariable& table, Output ids,
                                double max_norm);

/// Returns a target that fails unless the table has a row for each id of a vector.
Output range_check(const Scope& scope, const PartitionedVariable& table, Output ids);

}  // namespace troupe::nn
