// Replica: a worker's part of a training run, between-graph: its data, its graph, its session over its own devices and the
// parameter servers. The variables' values stay with it from one round to the next, so that a round costs one exchange with each
// server: gradients there, new values back. One thread; cancel() from any. Its functions throw Error.
#pragma once

#include <optional>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/train/replica_graph.h"
#include "apps/train/rounds.h"

namespace troupe::train {

class Replica {
 public:
  /// Reads the data, builds the graph and opens the session. The runtime outlives it.
  Replica(Runtime& runtime, config::RunConfig config, int64_t worker);

  /// The logical shards that it computes.
  const std::vector<int64_t>& shards() const { return graph_.shards; }
  /// Fetches the variables, to which `round` rounds have been applied.
  void begin(uint64_t round);
  /// Round `round`, the one after those before, else InvalidArgument; what each of its shards had.
  std::vector<ShardLoss> run(uint64_t round);
  /// The round that runs ends Cancelled, and no other begins.
  void cancel() { session_->cancel(); }

 private:
  void prepare();
  Graph model_graph_;
  config::RunConfig config_;
  ReplicaGraph graph_;
  std::optional<data::Batches> batches_;
  std::optional<Session> session_;
  PreparedStep step_;
  std::vector<Tensor> values_;
  uint64_t next_ = 0;  ///< round
};

}  // namespace troupe::train
