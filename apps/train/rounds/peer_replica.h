// PeerReplica: a worker's part of a training run without parameter servers. It has its own copy of the data, its own graph and
// variables, and a session over its own device. A round is one step. In mode "allreduce" the collectives of the step exchange
// gradients with the other workers, and the variables of worker 0 are those that the client initialises, evaluates and saves. In
// mode "local_sgd" a step concerns only this worker, an averaging follows when it is due, and the client sees the state of all
// workers.
#pragma once

#include <optional>
#include <string>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/data/batches.h"
#include "apps/train/graphs/peer_graph.h"
#include "apps/train/rounds/worker_replica.h"

namespace troupe::train {

class PeerReplica final : public WorkerReplica {
 public:
  /// Reads the data, builds the graph and opens the session. `worker` is the number of this worker's task, `training` names the
  /// training. The runtime must outlive this object.
  PeerReplica(Runtime& runtime, config::RunConfig config, int64_t worker, uint64_t training);

  /// Mode "allreduce": gets the variables of worker 0, or those of their owners. All workers must begin; the owners must have
  /// values.
  void begin(uint64_t round) override;
  /// Throws FailedPrecondition unless these are the shards of this worker, which never change.
  void assign(const std::vector<int64_t>& shards, uint64_t number) override;
  std::optional<uint64_t> next() const override {
    return next_ > 0 && !failed_ ? std::optional(next_) : std::nullopt;
  }
  std::vector<std::string> owners() const override { return config_.cluster.owners; }
  std::vector<int64_t> shards() const override { return graph_.shards; }
  /// In mode "local_sgd" the loss is that of this worker's shards.
  ShardLoss run(uint64_t round) override;
  double waited() const override { return waited_; }
  void cancel() override { session_->cancel(); }

 private:
  bool is_local() const { return graph_.average.has_value(); }

  Graph model_graph_;
  config::RunConfig config_;
  PeerGraph graph_;
  std::unique_ptr<data::Batches> batches_;
  std::optional<Session> session_;
  PreparedStep step_, average_;
  std::vector<Tensor> values_;  ///< of the variables that other workers own (PeerGraph::values)
  uint64_t next_ = 0;           ///< the next round
  bool failed_ = false;         ///< a round, which cannot be repeated
  double waited_ = 0;
};

}  // namespace troupe::train
