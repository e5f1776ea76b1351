#include "apps/train/training_graph.h"

#include "apps/train/local_copies.h"
#include "apps/train/model_builder.h"
#include "apps/train/optimizer_builder.h"

namespace troupe::train {
namespace {

/// Returns the moving averages with the means of the differences of all towers.
std::vector<AverageUpdate> mean_averages(const Scope& scope, const std::vector<Tower>& towers,
                                         const std::vector<Output>& samples) {
  std::vector<AverageUpdate> result = towers.front().averages;
  for (size_t i = 0; i < result.size(); ++i) {
    std::vector<Output> differences;
    for (const Tower& tower : towers) differences.push_back(tower.averages[i].difference);
    result[i].difference = weighted_mean(scope, differences, samples);
  }
  return result;
}

/// Returns a gradient as it gets to where the mean is computed. Workers that send each other means restore only these.
Gradient received(const Scope& scope, const nn::VariableGradient& gradient,
                  nn::GradientCompression& compression, bool sends_means) {
  const Gradient sent = compression.compressed(scope, gradient);
  return sends_means ? compression.wide(scope, sent) : compression.restored(scope, sent, gradient.variable);
}

/// Returns the means of the gradients of all towers. `sends_means` says whether means are compressed, too.
std::vector<nn::VariableGradient> mean_gradients(
    const ModelBuilder& builder, const std::vector<Tower>& towers, const std::vector<Output>& samples,
    const nn::Optimizer& optimizer, std::optional<nn::GradientCompression>& compression, bool sends_means) {
  std::map<NodeId, std::vector<Gradient>> gradients;  // by the nodes of the variables, in shard order
  std::vector<Output> order;
  for (size_t shard = 0; shard < towers.size(); ++shard) {
    const Scope scope = builder.at_shard(static_cast<int64_t>(shard));
    for (const auto& gradient : builder.gradients(scope, *towers[shard].model.loss, optimizer)) {
      if (shard == 0) order.push_back(gradient.variable);
      gradients[gradient.variable.node].push_back(
          compression ? received(scope, gradient, *compression, sends_means) : gradient.gradient);
    }
  }
  std::vector<nn::VariableGradient> means;
  for (const Output& variable : order) {
    const Gradient mean = weighted_mean(builder.root(), gradients[variable.node], samples);
    means.push_back({sends_means ? compression->restored(builder.root(), mean, variable) : mean, variable});
  }
  return means;
}

/// Returns the loss of the batch.
Output mean_loss(const Scope& scope, const std::vector<Tower>& towers, const std::vector<Output>& samples) {
  std::vector<Output> losses;
  for (const Tower& tower : towers) losses.push_back(*tower.model.loss);
  return scope.with_name("batch_loss").add_one("Identity", {weighted_mean(scope, losses, samples)});
}

/// Adds one update with the mean of the gradients of all towers.
void add_update(const config::Train& train, const ModelBuilder& builder, const std::vector<Tower>& towers,
                const std::vector<Output>& samples, const std::optional<nn::WeightAverages>& weight_averages,
                TrainingGraph& result) {
  const Scope& root = builder.root();
  const auto factor = rate_factor(train, builder.with_variables());
  const auto optimizer = make_optimizer(train, factor);
  auto compression = make_compression(train.replication);
  const bool sends_means = compression && train.replication.mode == config::ReplicationMode::AllReduce;
  nn::ReplicationStrategy strategy;
  strategy.read_first(root, {result.loss});
  std::vector<Output> updates = {optimizer->apply_gradients(
      root, mean_gradients(builder, towers, samples, *optimizer, compression, sends_means), strategy)};
  if (compression) {
    updates.insert(updates.end(), compression->updates().begin(), compression->updates().end());
    result.begin = local_initializer(root);
  }
  if (weight_averages) updates.push_back(weight_averages->update(root, strategy));
  if (!towers.front().averages.empty())
    updates.push_back(update_averages(root, mean_averages(root, towers, samples), strategy));
  result.update = updates.size() == 1 ? updates.front() : root.group(updates);
  if (factor) result.lower_rate = lower_rate(*train.plateau, root, *factor);
}

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
  result.average = add_average(train, root, copies, weight_averages);
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
  TrainingGraph result;
  std::vector<Tower> towers;
  std::vector<LocalCopies> copies;
  std::vector<Output> samples;
  for (int64_t shard = 0; shard < builder.shards(); ++shard) {
    copies.emplace_back(builder, shard);
    result.shards.push_back(builder.inputs(builder.at_shard(shard), DType::Float));
    samples.push_back(result.shards.back().samples);
    towers.push_back(
        builder.tower(builder.at_shard(shard), result.shards.back(), nn::Mode::Training,
                      [&](Output variable) { return is_local ? copies.back().of(variable) : variable; }));
  }
  const Scope evaluating = builder.root().with_prefix("evaluation");
  const Scope evaluation = evaluation_device.empty() ? builder.on_worker(evaluating, 0)
                                                     : evaluating.with_device(evaluation_device);
  result.evaluation = builder.inputs(evaluation);
  const auto averages = builder.weight_averages();
  const config::BuiltModel evaluated =
      builder
          .tower(evaluation, result.evaluation, nn::Mode::Inference,
                 [&](Output variable) { return averages ? averages->of(variable) : variable; })
          .model;
  TROUPE_RETURN_IF_FAILED(builder.status());
  result.evaluation_loss = *evaluated.loss;
  result.metrics = evaluated.metrics;
  result.loss = mean_loss(builder.root(), towers, samples);
  if (is_local)
    add_local_updates(config.train, builder.root(), towers, copies, averages, result);
  else
    add_update(config.train, builder, towers, samples, averages, result);
  result.initializer = initializer(builder.root());
  result.variables = variables(graph);
  for (const Output& variable : trainable_variables(graph))
    result.parameters += value_or_throw(graph.shape(variable).to_shape(graph.dtype(variable))).elements();
  return result;
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train
