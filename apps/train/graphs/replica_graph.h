// The graph of one worker in between-graph replication. It has one tower, which computes the logical shard that the step names and
// reads local values of the variables, and the updates of the variables on the tasks that own them. Plain values; the Replica owns
// the graph. One thread.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "apps/train/graphs/training_graph.h"

namespace troupe::train {

/// The loss of the batch of a round, read when the round has been applied.
struct RoundLoss {
  Output loss;
  Output round;  ///< of this loss: a later one if others have gone on already
};

/// What synchronous replication needs besides.
struct SyncParts {
  /// The target that pushes the gradients of a shard and does not wait until the round has been applied.
  Output push;
  RoundLoss batch_loss;
  /// The values after the round, for a worker that pushes nothing in it, and a target that waits until it has been applied to
  /// the variables that are read in place.
  std::vector<Output> awaited;
  RoundLoss awaited_loss;       ///< the loss for such a worker
  std::vector<Output> applied;  ///< how many rounds have been applied, by each rule
  Output rounds;       ///< the placeholder for the number of applied rounds, an input of `set_rounds`
  Output set_rounds;   ///< the target that sets the number of applied rounds
  int64_t pushes = 0;  ///< how many pushes a shard makes per round
  std::vector<Output> residuals;     ///< placeholders for what compression has lost of the shard's gradients
  std::vector<Output> no_residuals;  ///< their values before the first round
  std::vector<Output> rests;         ///< their values after the round
};

/// What asynchronous replication needs besides.
struct AsyncParts {
  Output updates_after;  ///< the number of updates by all workers, read after the update of the step
  Output reset;          ///< the target that sets this number to 0
};

struct ReplicaGraph {
  TowerInputs inputs;           ///< TowerInputs::samples is int64
  Output loss;                  ///< the loss of the shard
  std::vector<Output> values;   ///< placeholders for the values of the variables before the round
  std::vector<Output> current;  ///< the current values, read from the variables
  std::vector<Output> next;     ///< the values after the round, read from the variables
  Output update;                ///< the target of the last step of a worker in a round
  /// Whether steps read parts of tables where they are. In synchronous modes nothing may then be applied to one of them before
  /// all shards that count have read them all.
  bool reads_in_place = false;
  std::optional<SyncParts> sync;
  std::optional<AsyncParts> async;
};

/// Builds the graph of a worker of `config.cluster`. `training` is the number of the training in its coordinator. Fails with
/// InvalidArgument and a location in the run file if the model is wrong.
Result<ReplicaGraph> build_replica_graph(const config::RunConfig& config, const data::Dataset& data,
                                         int64_t worker, uint64_t training, Graph& graph);

}  // namespace troupe::train
