#include "apps/nn/embedding_lookup.h"
#include "apps/nn/layers.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

PartitionedVariable add_table(const Layer& layer, const Embedding& options) {
  layer.require_positive("rows", options.rows);
  layer.require_positive("units", options.units);
  const Weight table = layer.description("weights", {options.rows, options.units}, f32,
                                         options.init ? options.init : small_uniform);
  const int64_t parts = layer.network().parts_of_table(table.shape, table.dtype, options.partitions);
  return partitioned_weight(layer, table, parts, partition_strategy(options.strategy));
}

/// Combines the ids of each row of a ragged tensor.
Output combined(const Scope& scope, const Ragged& x, Combiner how) {
  if (how == Combiner::Mean) return ragged::mean(scope, x);
  const Output sums = ragged::sum(scope, x);
  if (how == Combiner::Sum) return sums;
  const Output lengths = maximum(scope, ragged::row_lengths(scope, x), 1);
  return div(scope, sums, expand_dims(scope, sqrt(scope, cast(scope, lengths, scope.dtype(sums))), 1));
}

/// Combines the ids of the last dimension.
Output combined(const Scope& scope, Output found, Combiner how) {
  if (how == Combiner::Mean) return mean(scope, found, {-2});
  const Output sums = sum(scope, found, {-2});
  if (how == Combiner::Sum) return sums;
  const Output count = gather(scope, shape(scope, found), scope.shape(found).rank() - 2);
  return div(scope, sums, sqrt(scope, cast(scope, count, scope.dtype(sums))));
}

}  // namespace

Output embedding(const Network& network, Output ids, const Embedding& options) {
  const Layer layer(network, "embedding");
  const Scope& scope = layer.scope();
  if (!is_integer(scope.dtype(ids)))
    layer.fail("the ids are " + std::string(name(scope.dtype(ids))) + scope.shape(ids).text() +
               ", but must be int32 or int64; write cast(x, 'int32'), or let the data have them: "
               "NAME = { cast = \"int32\" } in [data.inputs]");
  const PartitionedVariable table = add_table(layer, options);
  if (options.splits) layer.require_rank(ids, 1);
  const bool combines = options.combiner != "none";
  if (options.splits && !combines) layer.fail("splits of rows are given, but no combiner");
  if (combines && layer.rank_of(ids) == 0) layer.fail("a single id cannot be combined with others");
  const Output found = embedding_lookup(scope, table, ids, options.max_norm);
  if (!combines) return found;
  const Combiner how = combiner(options.combiner);
  return options.splits ? combined(scope, {found, *options.splits}, how) : combined(scope, found, how);
}

}  // namespace troupe::nn
