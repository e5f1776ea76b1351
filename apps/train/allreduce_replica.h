// AllreduceReplica: a worker's part of a training run without parameter servers. It has its own copy of the data, its own graph and
// variables, and a session over its own device. A round is one step, in which the collectives exchange gradients with the other
// workers. The variables of worker 0 are those that the client initialises, evaluates and saves.
#pragma once

#include <optional>
#include <string>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/data/batches.h"
#include "apps/train/allreduce_graph.h"
#include "apps/train/worker_replica.h"

namespace troupe::train {

class AllreduceReplica final : public WorkerReplica {
 public:
  /// Reads the data, builds the graph and opens the session. `worker` is the number of this worker's task, `training` names the
  /// training. The runtime must outlive this object.
  AllreduceReplica(Runtime& runtime, config::RunConfig config, int64_t worker, uint64_t training);

  /// Gets the variables of worker 0. All workers must begin; worker 0 must have values.
  void begin(uint64_t round) override;
  /// Throws FailedPrecondition unless these are the shards of this worker, which never change.
  void assign(const std::vector<int64_t>& shards) override;
  ShardLoss run(uint64_t round) override;
  double waited() const override { return waited_; }
  void cancel() override { session_->cancel(); }

 private:
  Graph model_graph_;
  config::RunConfig config_;
  AllreduceGraph graph_;
  std::unique_ptr<data::Batches> batches_;
  std::optional<Session> session_;
  PreparedStep step_;
  uint64_t next_ = 0;  ///< the next round
  double waited_ = 0;
};

}  // namespace troupe::train
