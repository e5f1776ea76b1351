#include "apps/train/graphs/training_graph.h"

#include "apps/config/combination.h"
#include "apps/train/graphs/local_copies.h"
#include "apps/train/graphs/model_builder.h"
#include "apps/train/graphs/optimizer_builder.h"
#include "apps/train/graphs/pipelined_shards.h"
#include "apps/train/graphs/replication_tasks.h"
#include "graph/build/shard_names.h"
#include "kernels/constructors.h"

namespace troupe::train {
namespace {

/// Adds one update with the mean of the gradients of all shards.
class SharedUpdate {
 public:
  /// If the shards are not pipelined, their gradients are added here. The arguments must outlive this object.
  SharedUpdate(const config::RunConfig& config, const ModelBuilder& builder,
               const std::vector<ShardParts>& shards)
      : config_(config), builder_(builder), shards_(shards), root_(builder.root()),
        compression_(make_compression(config.train.replication)),
        combination_(config::combination_of(config)),
        sends_means_(compression_ && config.train.replication.mode == config::ReplicationMode::AllReduce) {
    for (const ShardParts& shard : shards) samples_.push_back(shard.samples);
    if (config.is_pipelined()) at_ = beside;
  }

  /// Returns the loss of the batch.
  Output mean_loss() const {
    std::vector<Output> losses;
    for (const ShardParts& shard : shards_) losses.push_back(shard.loss);
    return root_.with_name("batch_loss").add_one("Identity", {weighted_mean(root_, losses, samples_)});
  }

  void add(const std::optional<nn::WeightAverages>& weight_averages, TrainingGraph& result) {
    const config::Train& train = config_.train;
    const auto factor = rate_factor(train, builder_.with_variables());
    const bool at_once = train.replication.mode == config::ReplicationMode::Hogwild;
    const auto factors = builder_.update_factors();
    const auto optimizer =
        at_once ? make_replica_optimizer(train, factor, factors) : make_optimizer(train, factor, factors);
    nn::ReplicationStrategy strategy;
    strategy.read_first(root_, {result.loss});
    std::vector<nn::VariableGradient> gradients = joint_gradients(*optimizer);
    std::vector<Output> updates;
    if (auto scaling = builder_.dynamic_scale()) {
      gradients =
          scaling->where_finite(root_, std::move(gradients), [this](const Scope&, const auto& gradient) {
            return with(gradient.variable).with_prefix("loss_scaling");
          });
      updates.push_back(scaling->update(root_, strategy));
    }
    updates.push_back(optimizer->apply_gradients(root_, gradients, strategy));
    if (compression_) {
      updates.insert(updates.end(), compression_->updates().begin(), compression_->updates().end());
      result.begin = local_initializer(root_);
    }
    if (weight_averages) updates.push_back(weight_averages->update(root_, strategy));
    if (!shards_.front().averages.empty())
      updates.push_back(update_averages(root_, mean_averages(), strategy));
    result.update = updates.size() == 1 ? updates.front() : root_.group(updates);
    if (factor) result.lower_rate = lower_rate(*train.plateau, root_, *factor);
    result.rate_factor = factor;
  }

 private:
  /// Returns the scope of a mean that updates a variable.
  Scope with(Output variable) const {
    return config_.is_pipelined() ? root_.with_device(root_.graph().node(variable.node).device) : root_;
  }

  /// Returns the moving averages with the means of the differences of all shards.
  std::vector<AverageUpdate> mean_averages() const {
    std::vector<AverageUpdate> result = shards_.front().averages;
    for (size_t i = 0; i < result.size(); ++i) {
      std::vector<Output> differences;
      for (const ShardParts& shard : shards_) differences.push_back(shard.averages[i].difference);
      result[i].difference = weighted_mean(with(result[i].variable), differences, samples_);
    }
    return result;
  }

  std::vector<nn::VariableGradient> gradients_of(size_t shard, const nn::Optimizer& optimizer) const {
    const Scope scope = scope_of(shard);
    return config_.is_pipelined() ? builder_.contributed(scope, shards_[shard].gradients, optimizer, at_)
                                  : builder_.gradients(scope, shards_[shard].loss, optimizer);
  }

  Scope scope_of(size_t shard) const {
    const auto number = static_cast<int64_t>(shard);
    return config_.is_pipelined() ? root_.with_prefix(shard_prefix(number)) : builder_.at_shard(number);
  }

  /// Returns a gradient as it gets to where the mean is computed. Workers that send each other means restore only these.
  Gradient received(const Scope& scope, const nn::VariableGradient& gradient) {
    if (!compression_) return gradient.gradient;
    const Gradient sent = compression_->compressed(at_ ? at_(scope, gradient) : scope, gradient);
    return sends_means_ ? compression_->wide(scope, sent)
                        : compression_->restored(scope, sent, gradient.variable);
  }

  /// Returns the means of the gradients of all shards, or what the run file says takes their place.
  std::vector<nn::VariableGradient> joint_gradients(const nn::Optimizer& optimizer) {
    std::map<NodeId, std::vector<Gradient>> gradients;  // by the nodes of the variables, in shard order
    std::vector<Output> order;
    for (size_t shard = 0; shard < shards_.size(); ++shard)
      for (const auto& gradient : gradients_of(shard, optimizer)) {
        if (shard == 0) order.push_back(gradient.variable);
        gradients[gradient.variable.node].push_back(received(scope_of(shard), gradient));
      }
    std::vector<nn::VariableGradient> means;
    for (const Output& variable : order) {
      const Gradient mean = joined(with(variable), gradients[variable.node]);
      means.push_back({sends_means_ ? compression_->restored(root_, mean, variable) : mean, variable});
    }
    return means;
  }

  Gradient joined(const Scope& scope, const std::vector<Gradient>& gradients) const {
    if (!combination_) return weighted_mean(scope, gradients, samples_);
    std::vector<Output> dense;
    for (const Gradient& gradient : gradients) dense.push_back(nn::values_of(gradient));
    return nn::combined_gradient(scope, dense, samples_, combination_);
  }

  const config::RunConfig& config_;
  const ModelBuilder& builder_;
  const std::vector<ShardParts>& shards_;
  const Scope root_;
  std::vector<Output> samples_;
  std::optional<nn::GradientCompression> compression_;
  const nn::Combination combination_;  ///< empty: the mean
  const bool sends_means_;             ///< whether means are compressed, too
  nn::ScopeOfGradient at_;
};

/// Adds an averaging of the copies of all shards.
Output add_average(const config::Train& train, const Scope& root, const std::vector<LocalCopies>& copies,
                   const std::optional<nn::WeightAverages>& weight_averages) {
  const Scope scope = root.with_prefix("average");
  const std::vector<Output> weights(copies.size(), scope.constant(Tensor::scalar<int64_t>(1)));
  nn::ReplicationStrategy strategy;
  std::vector<Output> targets;
  const auto& averaged = copies.front().averaged();
  for (size_t i = 0; i < averaged.size(); ++i) {
    std::vector<Output> values;
    for (const LocalCopies& shard : copies)
      values.push_back(scope.add_one("Identity", {shard.averaged()[i].second}));
    targets.push_back(update_from_mean(train.replication, root, averaged[i].first,
                                       weighted_mean(scope, values, weights), strategy));
  }
  if (weight_averages) targets.push_back(weight_averages->update(root, strategy));
  for (const LocalCopies& shard : copies)
    for (const Output& assigned : shard.assign([&](Output variable) {
           return scope.with_control(strategy.updates_of(variable)).add_one("Identity", {variable});
         }))
      targets.push_back(assigned);
  return root.group(targets);
}

/// Adds an update for each tower, and the averaging.
void add_local_updates(const config::Train& train, const Scope& root, const std::vector<Tower>& towers,
                       std::vector<LocalCopies>& copies,
                       const std::optional<nn::WeightAverages>& weight_averages, TrainingGraph& result) {
  std::vector<Output> updates, lowered;
  for (size_t shard = 0; shard < towers.size(); ++shard) {
    updates.push_back(copies[shard].add_update(train, towers[shard]));
    if (const auto factor = copies[shard].rate_factor())
      lowered.push_back(lower_rate(*train.plateau, root, *factor));
  }
  result.update = root.group(updates);
  if (!lowered.empty()) result.lower_rate = root.group(lowered);
  result.rate_factor = copies.front().rate_factor();
  result.average = add_average(train, root, copies, weight_averages);
}

/// Adds what the learning rate of an update is, if it changes.
void add_rate(const config::RunConfig& config, const Scope& scope, TrainingGraph& result) {
  if (!is_synchronous(config) || (!config.train.schedule && !result.rate_factor)) return;
  result.updates = placeholder(scope, DType::Float, PartialShape::scalar(), "updates");
  nn::ReplicationStrategy strategy;
  result.rate = learning_rate(config.train, result.rate_factor).at(scope, result.updates, strategy);
}

}  // namespace

RunSignature training_step(const TrainingGraph& graph) {
  RunSignature step{{}, {graph.loss}, {graph.update.node}};
  for (const TowerInputs& shard : graph.shards) {
    for (const auto& [name, column] : shard.columns) step.feeds.push_back(column);
    step.feeds.push_back(shard.samples);
  }
  return step;
}

Result<TrainingGraph> build_training_graph(const config::RunConfig& config, const data::Dataset& data,
                                           Graph& graph, const std::string& evaluation_device) try {
  ModelBuilder builder(config, data, graph);
  const bool is_local = config.train.replication.mode == config::ReplicationMode::LocalSgd;
  const bool is_hogwild = config.train.replication.mode == config::ReplicationMode::Hogwild;
  builder.scale_losses(!is_local && !is_hogwild);
  TrainingGraph result;
  result.micro_batches = config.train.micro_batches;
  std::vector<Tower> towers;
  std::vector<LocalCopies> copies;
  std::vector<ShardParts> shards;
  std::optional<PipelinedShards> pipelined;
  if (config.is_pipelined()) pipelined.emplace(config, builder);
  const int64_t count = is_hogwild ? 1 : builder.shards();
  for (int64_t shard = 0; shard < count; ++shard) {
    if (pipelined) {
      shards.push_back(pipelined->add(shard, result.shards));
      continue;
    }
    copies.emplace_back(builder, shard);
    const Scope scope = is_hogwild ? builder.root().with_prefix(step_shard_prefix) : builder.at_shard(shard);
    result.shards.push_back(builder.inputs(scope, DType::Float));
    towers.push_back(builder.tower(scope, result.shards.back(), nn::Mode::Training, [&](Output variable) {
      return is_local ? copies.back().of(variable) : variable;
    }));
    if (const Tower& tower = towers.back(); tower.model.loss)
      shards.push_back({*tower.model.loss, result.shards.back().samples, tower.averages, {}});
  }
  const Scope evaluating = builder.root().with_prefix("evaluation");
  const Scope evaluation = pipelined                   ? evaluating
                           : evaluation_device.empty() ? builder.on_worker(evaluating, 0)
                                                       : evaluating.with_device(evaluation_device);
  result.evaluation = builder.inputs(evaluation);
  const auto averages = builder.weight_averages();
  const config::BuiltModel evaluated =
      builder
          .tower(
              evaluation, result.evaluation, nn::Mode::Inference,
              [&](Output variable) { return averages ? averages->of(variable) : variable; },
              pipelined ? &pipelined->evaluation() : nullptr)
          .model;
  TROUPE_RETURN_IF_FAILED(builder.status());
  result.evaluation_loss = *evaluated.loss;
  result.metrics = evaluated.metrics;
  result.images = evaluated.images;
  result.set_metrics = set_metrics_of(config);
  SharedUpdate update(config, builder, shards);
  result.loss = update.mean_loss();
  if (is_local)
    add_local_updates(config.train, builder.root(), towers, copies, averages, result);
  else
    update.add(averages, result);
  add_rate(config, evaluation.with_prefix("learning_rate"), result);
  result.initializer = initializer(builder.root());
  result.fed_weights = builder.fed_weights();
  result.variables = variables(graph);
  for (const Output& variable : trainable_variables(graph))
    result.parameters += value_or_throw(graph.shape(variable).to_shape(graph.dtype(variable))).elements();
  return result;
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train
