// The graph of one worker in a training without parameter servers, with a tower for each of its logical shards. In mode "allreduce"
// it has all variables on the worker's own device, the means of the gradients over the shards of all workers, and the update, which
// every worker makes in the same way; with shard_optimizer it updates the variables that it owns, and gets the values of the others
// from their owners. In mode "local_sgd" it has the copies of its shards (local_copies.h), the variables that it
// owns, and the averaging, in which all workers take part. Plain values; the PeerReplica owns the graph. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/train/graphs/training_graph.h"

namespace troupe::train {

struct PeerGraph {
  std::vector<int64_t> shards;      ///< the numbers of this worker's shards among those of the run
  std::vector<TowerInputs> inputs;  ///< the inputs of each shard; TowerInputs::samples is int64
  Output loss;    ///< the loss of the batch; in mode "local_sgd", of the shards of this worker
  Output update;  ///< the target of a round
  /// Mode "allreduce": a target: every worker gets the variables of the others, and its own state begins.
  std::optional<Output> begin;
  std::vector<Output> values;     ///< with shard_optimizer: placeholders for variables that other workers own
  std::vector<Output> current;    ///< their values before the first round, which `begin` receives
  std::vector<Output> next;       ///< their values after the round
  std::optional<Output> average;  ///< mode "local_sgd": the target of an averaging
};

/// Build the graph of a worker of `config.cluster`, which has no parameter servers. `group` names the training; all of its workers
/// have the same, and no other training has. Fail with InvalidArgument and a location in the run file if the model is wrong.
Result<PeerGraph> build_allreduce_graph(const config::RunConfig& config, const data::Dataset& data,
                                        int64_t worker, const std::string& group, Graph& graph);
Result<PeerGraph> build_local_sgd_graph(const config::RunConfig& config, const data::Dataset& data,
                                        int64_t worker, const std::string& group, Graph& graph);

}  // namespace troupe::train
