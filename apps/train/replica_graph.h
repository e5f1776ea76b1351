// The graph of one worker in between-graph replication. It has a tower for each logical shard of the worker, which reads local
// values of the variables, and the updates of the variables on the tasks that own them. Plain values; the Replica owns the graph.
// One thread.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "apps/train/training_graph.h"

namespace troupe::train {

struct ReplicaGraph {
  std::vector<int64_t> shards;      ///< the numbers of this worker's shards among those of the run
  std::vector<TowerInputs> inputs;  ///< the inputs of each shard; TowerInputs::samples is int64
  std::vector<Output> losses;       ///< the loss of each shard
  std::vector<Output> values;       ///< placeholders for the values of the variables before the round
  std::vector<Output> current;      ///< the current values, read from the variables
  std::vector<Output> next;         ///< the values after the round, read from the variables
  Output update;                    ///< the target of a round
  Output rounds;  ///< the placeholder for the number of applied rounds, an input of `set_rounds`
  /// In synchronous mode only: the target that sets the number of applied rounds.
  std::optional<Output> set_rounds;
};

/// Builds the graph of a worker of `config.cluster`. Fails with InvalidArgument and a location in the run file if the model is
/// wrong.
Result<ReplicaGraph> build_replica_graph(const config::RunConfig& config, const data::Dataset& data,
                                         int64_t worker, Graph& graph);

}  // namespace troupe::train
