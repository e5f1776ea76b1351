#include "apps/train/replica_graph.h"

#include "apps/train/model_builder.h"
#include "apps/train/optimizer_builder.h"

namespace troupe::train {
namespace {

using Gradients = std::map<NodeId, Gradient>;  // by the nodes of their variables

class Builder {
 public:
  Builder(const config::RunConfig& config, const data::Dataset& data, int64_t worker, Graph& graph)
      : config_(config), worker_(worker), builder_(config, data, graph),
        values_(builder_.on_worker(builder_.root(), worker)) {}

  Result<ReplicaGraph> build() {
    const int64_t workers = std::max<int64_t>(1, builder_.tasks("worker"));
    for (int64_t shard = worker_; shard < builder_.shards(); shard += workers) add_tower(shard);
    TROUPE_RETURN_IF_FAILED(builder_.status());
    weight_averages_ = builder_.weight_averages();
    optimizer_ = make_optimizer(config_.train, rate_factor(config_.train, builder_.with_variables()));
    if (!optimizer_->allows_replicas())
      return invalid_argument(
          "train.optimizer.type is '" + config_.train.optimizer.type +
          "', which needs all variables and gradients in one place; it cannot train replicas");
    for (size_t i = 0; i < result_.shards.size(); ++i) add_gradients(i);
    if (config_.train.replication.mode == config::ReplicationMode::Async)
      update_at_once();
    else
      update_together();
    return std::move(result_);
  }

 private:
  void add_tower(int64_t shard) {
    const Scope scope = builder_.at_shard(shard);
    result_.shards.push_back(shard);
    result_.inputs.push_back(builder_.inputs(scope, DType::Int64));
    const auto local = [this](Output variable) { return values_.of(variable); };
    Tower tower = builder_.tower(scope, result_.inputs.back(), nn::Mode::Training, local);
    if (tower.model.loss) result_.losses.push_back(*tower.model.loss);
    averages_.push_back(std::move(tower.averages));
  }

  void add_gradients(size_t shard) {
    std::vector<Output> variables = trainable_variables(builder_.root().graph()), local;
    for (const Output& variable : variables) local.push_back(values_.of(variable));
    const auto found = builder_.gradients(builder_.at_shard(result_.shards[shard]), result_.losses[shard],
                                          *optimizer_, local);
    gradients_.emplace_back();
    for (const auto& [gradient, value] : found) {
      const auto at = std::ranges::find(local, value) - local.begin();
      if (shard == 0) order_.push_back(variables[static_cast<size_t>(at)]);
      gradients_.back().emplace(variables[static_cast<size_t>(at)].node, gradient);
    }
    for (const AverageUpdate& average : averages_[shard])
      gradients_.back().emplace(average.variable.node, average.difference);
  }

  /// Adds the synchronous update, which uses the gradients of all workers.
  void update_together() {
    std::vector<nn::SyncReplicas::Shard> shards;
    for (size_t i = 0; i < result_.shards.size(); ++i)
      shards.push_back({result_.shards[i], result_.inputs[i].samples, gradients_[i]});
    nn::SyncReplicas strategy(std::move(shards), builder_.shards(), worker_, values_);
    std::vector<nn::VariableGradient> first;
    for (const Output& variable : order_) first.push_back({gradients_.front().at(variable.node), variable});
    apply(first, averages_.front(), strategy);
    result_.rounds = builder_.root().with_name("rounds").add_one(
        "Placeholder", {}, {{"dtype", DType::Int64}, {"shape", PartialShape::scalar()}});
    result_.set_rounds = strategy.set_rounds(builder_.root(), result_.rounds);
  }

  /// Adds the asynchronous update, which uses only the gradients of this worker.
  void update_at_once() {
    const Scope here = builder_.on_worker(builder_.root(), worker_);
    std::vector<Output> samples;
    for (const TowerInputs& inputs : result_.inputs) samples.push_back(inputs.samples);
    const auto mean = [&](const Output& variable) {
      std::vector<Gradient> each;
      for (const Gradients& gradients : gradients_) each.push_back(gradients.at(variable.node));
      return weighted_mean(here, each, samples);
    };
    std::vector<nn::VariableGradient> means;
    for (const Output& variable : order_) means.push_back({mean(variable), variable});
    std::vector<AverageUpdate> averages = averages_.front();
    for (AverageUpdate& average : averages) average.difference = std::get<Output>(mean(average.variable));
    nn::ReplicationStrategy strategy;
    apply(means, averages, strategy);
  }

  void apply(const std::vector<nn::VariableGradient>& gradients, const std::vector<AverageUpdate>& averages,
             nn::ReplicationStrategy& strategy) {
    const Scope& root = builder_.root();
    std::vector<Output> updates = {optimizer_->apply_gradients(root, gradients, strategy)};
    if (weight_averages_) updates.push_back(weight_averages_->update(root, strategy));
    if (!averages.empty()) updates.push_back(update_averages(root, averages, strategy));
    result_.update = updates.size() == 1 ? updates.front() : root.group(updates);
    for (const auto& [variable, value] : values_.all()) {
      const Scope there = root.colocated_with(variable);
      result_.values.push_back(value);
      result_.current.push_back(there.add_one("Identity", {variable}));
      result_.next.push_back(
          there.with_control(strategy.updates_of(variable)).add_one("Identity", {variable}));
    }
  }

  const config::RunConfig& config_;
  int64_t worker_;
  ModelBuilder builder_;
  nn::LocalValues values_;
  std::vector<std::vector<AverageUpdate>> averages_;  ///< of each shard of this worker
  std::vector<Gradients> gradients_;  ///< the gradients of each shard, and the differences of its averages
  std::vector<Output> order_;         ///< the variables that have gradients
  std::optional<nn::WeightAverages> weight_averages_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  ReplicaGraph result_;
};

}  // namespace

Result<ReplicaGraph> build_replica_graph(const config::RunConfig& config, const data::Dataset& data,
                                         int64_t worker, Graph& graph) try {
  return Builder(config, data, worker, graph).build();
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train
