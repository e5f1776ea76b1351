// Replica: a worker's part of a training run in between-graph replication. It has its own copy of the data, its own graph, and a
// session over its devices and the parameter servers. It keeps the values of the variables from one round to the next, so a round
// costs one exchange with each server: it sends gradients and receives new values. It computes its logical shards one after the
// other, each in a step of its own. One thread runs the rounds; assign(), round_fixed(), interrupt() and cancel() may be called
// from any thread. Functions throw Error.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/data/batches.h"
#include "apps/data/load.h"
#include "apps/train/graphs/replica_graph.h"
#include "apps/train/rounds/worker_replica.h"

namespace troupe::train {

class Replica final : public WorkerReplica {
 public:
  /// Reads the data, builds the graph and opens the session. `worker` is the number of this worker's task, `training` that of the
  /// training in its coordinator. The runtime must outlive this object.
  Replica(Runtime& runtime, config::RunConfig config, int64_t worker, uint64_t training);

  int64_t pushes() const override;
  bool reads_in_place() const override { return model()->parts.reads_in_place; }
  void begin(uint64_t round) override;
  Progress relocate(const Place& place) override;
  void assign(const std::vector<int64_t>& shards, uint64_t number) override;
  std::optional<uint64_t> next() const override { return next_ > 0 ? std::optional(next_) : std::nullopt; }
  std::vector<std::string> owners() const override { return config_.cluster.owners; }
  std::vector<int64_t> shards() const override;
  ShardLoss run(uint64_t round) override;
  void round_fixed(uint64_t round) override;
  Staleness take_staleness() override { return std::exchange(staleness_, {}); }
  double waited() const override { return waited_; }
  void interrupt() override;
  void cancel() override;

 private:
  /// What the steps of a round need.
  struct Input {
    uint64_t round = 0;
    data::Dataset batch;
    std::vector<data::Shard> shards;  ///< all shards of the batch
    std::vector<Tensor> values;       ///< of the variables
    Cancellation cancellation;
  };
  /// The graph with the variables where they are, and the session that runs it.
  struct Model {
    explicit Model(Runtime& runtime) : graph(runtime.ops()) {}
    Graph graph;
    ReplicaGraph parts;
    std::optional<Session> session;
    PreparedStep step, push, awaited;
  };
  void build(uint64_t training);
  static void prepare(Model& model);
  std::shared_ptr<Model> model() const;
  std::shared_ptr<Input> begin_round(uint64_t round);
  void end_round();
  void repeat_round(const Input& input);
  std::vector<Tensor> run_step(const Model& model, const PreparedStep& step, const Input& input,
                               int64_t shard);
  std::vector<Tensor> residuals_of(int64_t shard) const;
  void take_rests();
  void drop_rests();
  ShardLoss run_together(const Model& model, const Input& input, const std::vector<int64_t>& shards,
                         const Cancellation& interruption);
  ShardLoss run_at_once(const Model& model, Input& input, const std::vector<int64_t>& shards);
  void note_updates(uint64_t updates);
  double take_values(std::vector<Tensor> fetched);
  ShardLoss take_round(std::vector<Tensor> fetched, uint64_t round);
  ShardLoss catch_up(const Model& model, uint64_t round, const Cancellation& interruption);
  uint64_t last_fixed() const;

  Runtime& runtime_;
  config::RunConfig config_;
  const int64_t worker_;
  data::TrainAndValid data_;
  std::unique_ptr<data::Batches> batches_;
  std::vector<Tensor> values_;
  uint64_t next_ = 0;  ///< the next round
  /// Asynchronous mode: the shards whose updates may have been applied in the next round already.
  std::set<int64_t> begun_;
  uint64_t updates_ = 0;  ///< asynchronous mode: the number of updates that values_ contain
  Staleness staleness_;
  double waited_ = 0;

  mutable std::mutex mutex_;  ///< guards the members below
  std::shared_ptr<Model> model_;
  bool cancelled_ = false;
  std::vector<int64_t> shards_;
  uint64_t assignment_ = 0;  ///< the number of the last assignment of shards
  std::vector<Tensor> no_residuals_;
  /// By shard: what compression has lost of its gradients since begin(); none: nothing.
  std::map<int64_t, std::vector<Tensor>> residuals_;
  /// By shard: what its gradients in the round that is in progress, or has failed, have lost. They become residuals with the round.
  std::map<int64_t, std::vector<Tensor>> rests_;
  std::shared_ptr<Input> input_;                ///< of the round in progress; null if there is none
  std::shared_ptr<Cancellation> interruption_;  ///< of the round in progress, or the last one
  uint64_t fixed_ = 0;                          ///< the last round that needs no push of this worker any more
};

}  // namespace troupe::train
