// Replica: a worker's part of a training run in between-graph replication. It has its own copy of the data, its own graph, and a
// session over its devices and the parameter servers. It keeps the values of the variables from one round to the next, so a round
// costs one exchange with each server: it sends gradients and receives new values. One thread, but any thread may call cancel().
// Functions throw Error.
#pragma once

#include <optional>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/data/batches.h"
#include "apps/train/replica_graph.h"
#include "apps/train/rounds.h"

namespace troupe::train {

class Replica {
 public:
  /// Reads the data, builds the graph and opens the session. `worker` is the number of this worker's task. The runtime must outlive
  /// this object.
  Replica(Runtime& runtime, config::RunConfig config, int64_t worker);

  /// Returns the logical shards that this worker computes.
  const std::vector<int64_t>& shards() const { return graph_.shards; }
  /// Fetches the values of the variables, to which `round` rounds have been applied.
  void begin(uint64_t round);
  /// Runs a round. Returns the loss of each shard. Throws InvalidArgument if `round` is not the next one.
  std::vector<ShardLoss> run(uint64_t round);
  /// Returns for how many seconds the last round waited for its batch.
  double waited() const { return waited_; }
  /// Cancels the current round, which then throws Cancelled, and all later ones.
  void cancel() { session_->cancel(); }

 private:
  void prepare();
  Graph model_graph_;
  config::RunConfig config_;
  ReplicaGraph graph_;
  std::unique_ptr<data::Batches> batches_;
  std::optional<Session> session_;
  PreparedStep step_;
  std::vector<Tensor> values_;
  uint64_t next_ = 0;  ///< the next round
  double waited_ = 0;
};

}  // namespace troupe::train
