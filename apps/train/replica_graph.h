// The graph of one worker in between-graph replication: a tower for each logical shard that is its own, over local values of the
// variables, and the updates of the variables where they live. Plain values; the graph is the replica's.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "apps/train/training_graph.h"

namespace troupe::train {

struct ReplicaGraph {
  std::vector<int64_t> shards;      ///< which, of those of the run
  std::vector<TowerInputs> inputs;  ///< of each; samples are int64
  std::vector<Output> losses;       ///< of each
  std::vector<Output> values;       ///< fed: the variables' values before the round
  std::vector<Output> current;      ///< the same, read from the variables
  std::vector<Output> next;         ///< the same, after the round
  Output update;                    ///< the target of a round
  Output rounds;                    ///< fed to `set_rounds`: how many rounds have been applied
  std::optional<Output> set_rounds;
};

/// For worker `worker` of `config.cluster`. InvalidArgument points into the run file.
Result<ReplicaGraph> build_replica_graph(const config::RunConfig& config, const data::Dataset& data,
                                         int64_t worker, Graph& graph);

}  // namespace troupe::train
