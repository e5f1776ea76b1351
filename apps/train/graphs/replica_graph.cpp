#include "apps/train/graphs/replica_graph.h"

#include "apps/config/combination.h"
#include "apps/train/graphs/model_builder.h"
#include "apps/train/graphs/optimizer_builder.h"
#include "apps/train/graphs/replication_tasks.h"
#include "graph/build/shard_names.h"
#include "kernels/constructors.h"

namespace troupe::train {
namespace {

class Builder {
 public:
  Builder(const config::RunConfig& config, const data::Dataset& data, int64_t worker, uint64_t training,
          Graph& graph)
      : config_(config), worker_(worker), training_(static_cast<int64_t>(training)),
        builder_(config, data, graph), root_(builder_.root()), here_(builder_.on_worker(root_, worker)),
        shard_(here_.with_prefix(step_shard_prefix)), values_(here_), residuals_(here_.with_prefix("lost")),
        compression_(make_compression(config.train.replication)) {}

  Result<ReplicaGraph> build() {
    builder_.scale_losses(false);
    result_.inputs = builder_.inputs(shard_, DType::Int64);
    const Tower tower = builder_.tower(shard_, result_.inputs, nn::Mode::Training,
                                       [this](Output variable) { return read_by_towers(variable); });
    TROUPE_RETURN_IF_FAILED(builder_.status());
    result_.loss = *tower.model.loss;
    weight_averages_ = builder_.weight_averages();
    optimizer_ = make_replica_optimizer(config_.train, rate_factor(config_.train, builder_.with_variables()),
                                        builder_.update_factors());
    if (is_synchronous(config_))
      update_together(tower);
    else
      update_at_once(tower);
    return std::move(result_);
  }

 private:
  /// Returns what stands for a variable in the tower.
  Output read_by_towers(Output variable) {
    if (!builder_.is_read_in_place(variable)) return values_.of(variable);
    result_.reads_in_place = true;
    return variable;
  }

  /// Returns the gradients of the shard, with the variables instead of their local values.
  std::vector<nn::VariableGradient> gradients() {
    const std::vector<Output> variables = trainable_variables(root_.graph());
    std::vector<Output> local;
    for (const Output& variable : variables) local.push_back(read_by_towers(variable));
    auto result = builder_.gradients(shard_, result_.loss, *optimizer_, local);
    for (nn::VariableGradient& gradient : result)
      gradient.variable =
          variables[static_cast<size_t>(std::ranges::find(local, gradient.variable) - local.begin())];
    if (compression_)
      for (nn::VariableGradient& gradient : result) compress(gradient);
    return result;
  }

  /// Lets the gradient travel in another form, from which the task that owns the variable restores it.
  void compress(nn::VariableGradient& gradient) {
    if (!std::holds_alternative<Output>(gradient.gradient)) return;
    const Output variable = gradient.variable, residual = residuals_.of(variable);
    const Gradient sent = compression_->compressed(shard_, gradient, residual, rests_.emplace_back());
    gradient.gradient = compression_->restored(root_.colocated_with(variable), sent, variable);
  }

  /// Adds the synchronous update, which uses the gradients of all shards that count.
  void update_together(const Tower& tower) {
    nn::SyncReplicas strategy(result_.inputs.samples,
                              {.shards = builder_.shards(),
                               .worker = worker_,
                               .training = training_,
                               .combination = config::combination_of(config_)},
                              values_);
    std::vector<Output> updates = apply(tower, strategy);
    SyncParts& sync = result_.sync.emplace();
    updates.push_back(add_batch_loss(strategy, sync));
    result_.update = root_.group(updates);
    sync.push = strategy.push(root_);
    sync.rests = rests_;
    for (const auto& [variable, residual] : residuals_.all()) {
      sync.residuals.push_back(residual);
      sync.no_residuals.push_back(zeros(here_, here_.shape(residual), here_.dtype(residual)));
    }
    sync.pushes = strategy.rules();
    for (const auto& [variable, value] : values_.all())
      sync.awaited.push_back(read_after(strategy.awaited(root_, variable), variable));
    sync.awaited.push_back(await_in_place(strategy));
    for (const Output& counter : strategy.counters()) sync.applied.push_back(read_after({}, counter));
    sync.rounds = root_.with_name("rounds").add_one(
        "Placeholder", {}, {{"dtype", DType::Int64}, {"shape", PartialShape::scalar()}});
    sync.set_rounds = root_.group({strategy.set_rounds(root_, sync.rounds), local_initializer(root_)});
  }

  /// Returns a target that ends when the round has been applied to the variables that are read in place.
  Output await_in_place(const nn::SyncReplicas& strategy) const {
    std::vector<Output> awaited;
    for (const Output& variable : trainable_variables(root_.graph()))
      if (builder_.is_read_in_place(variable))
        for (const Output& target : strategy.awaited(root_, variable)) awaited.push_back(target);
    return root_.group(awaited);
  }

  /// Adds a variable that gets the mean loss of the shards that count, as if it were a gradient. Returns its update.
  Output add_batch_loss(nn::SyncReplicas& strategy, SyncParts& sync) {
    const Scope there = builder_.with_variables();
    const Output none = zeros(there, std::vector<int64_t>{}, there.dtype(result_.loss));
    const Output loss = local_variable(there.with_prefix("train"), none, "batch_loss");
    const Output updated = strategy.apply(there, {.op = "Assign",
                                                  .variables = {loss},
                                                  .values = {result_.loss},
                                                  .gradient = "value",
                                                  .is_averaged = true});
    const auto round_loss = [&](const std::vector<Output>& applied) {
      const Output read = read_after(applied, loss);
      return RoundLoss{read, read_after({read}, strategy.counters().back())};
    };
    sync.batch_loss = round_loss({updated});
    sync.awaited_loss = round_loss(strategy.awaited(root_, loss));
    return updated;
  }

  /// Adds the asynchronous update, which uses only the gradients of this shard.
  void update_at_once(const Tower& tower) {
    nn::ReplicationStrategy strategy;
    const std::vector<Output> updates = apply(tower, strategy);
    result_.update = root_.group(updates);
    const Scope there = builder_.with_variables();
    const Output none = there.constant(Tensor::scalar<int64_t>(0)),
                 one = there.constant(Tensor::scalar<int64_t>(1));
    const Output count = local_variable(there.with_prefix("train"), none, "updates");
    const Output counted = there.with_control(updates).add_one("AssignAdd", {count, one});
    result_.async = {there.add_one("Identity", {counted}), local_initializer(root_)};
  }

  std::vector<Output> apply(const Tower& tower, nn::ReplicationStrategy& strategy) {
    std::vector<Output> updates = {optimizer_->apply_gradients(root_, gradients(), strategy)};
    if (weight_averages_) updates.push_back(weight_averages_->update(root_, strategy));
    if (!tower.averages.empty()) updates.push_back(update_averages(root_, tower.averages, strategy));
    for (const auto& [variable, value] : values_.all()) {
      result_.values.push_back(value);
      result_.current.push_back(read_after({}, variable));
      result_.next.push_back(read_after(strategy.updates_of(variable), variable));
    }
    return updates;
  }

  Output read_after(const std::vector<Output>& before, Output variable) const {
    return root_.colocated_with(variable).with_control(before).add_one("Identity", {variable});
  }

  const config::RunConfig& config_;
  const int64_t worker_, training_;
  ModelBuilder builder_;
  const Scope root_, here_, shard_;  ///< shard_: of the nodes that compute the step's shard
  nn::LocalValues values_, residuals_;
  std::optional<nn::GradientCompression> compression_;
  std::vector<Output> rests_;  ///< in the order of residuals_
  std::optional<nn::WeightAverages> weight_averages_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  ReplicaGraph result_;
};

}  // namespace

Result<ReplicaGraph> build_replica_graph(const config::RunConfig& config, const data::Dataset& data,
                                         int64_t worker, uint64_t training, Graph& graph) try {
  return Builder(config, data, worker, training, graph).build();
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train
