// The graph of one worker in a training without parameter servers: all variables on the worker's own device, a tower for each
// of its logical shards, the means of the gradients over the shards of all workers, and the update, which every worker makes in
// the same way. Plain values; the AllreduceReplica owns the graph. One thread.
#pragma once

#include <string>
#include <vector>

#include "apps/train/training_graph.h"

namespace troupe::train {

struct AllreduceGraph {
  std::vector<int64_t> shards;      ///< the numbers of this worker's shards among those of the run
  std::vector<TowerInputs> inputs;  ///< the inputs of each shard; TowerInputs::samples is int64
  Output loss;                      ///< the loss of the batch
  Output update;                    ///< the target of a round
  Output begin;                     ///< a target: every worker gets the variables of worker 0
};

/// Builds the graph of a worker of `config.cluster`, which has no parameter servers. `group` names the training; all of its workers
/// have the same, and no other training has. Fails with InvalidArgument and a location in the run file if the model is wrong.
Result<AllreduceGraph> build_allreduce_graph(const config::RunConfig& config, const data::Dataset& data,
                                             int64_t worker, const std::string& group, Graph& graph);

}  // namespace troupe::train
