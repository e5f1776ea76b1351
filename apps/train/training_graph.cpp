#include "apps/train/training_graph.h"

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

/// Returns the means of the gradients of all towers.
std::vector<nn::VariableGradient> mean_gradients(const ModelBuilder& builder,
                                                 const std::vector<Tower>& towers,
                                                 const std::vector<Output>& samples,
                                                 const nn::Optimizer& optimizer) {
  std::map<NodeId, std::vector<Gradient>> gradients;  // by the nodes of the variables, in shard order
  std::vector<Output> order;
  for (size_t shard = 0; shard < towers.size(); ++shard)
    for (const auto& [gradient, variable] : builder.gradients(builder.at_shard(static_cast<int64_t>(shard)),
                                                              *towers[shard].model.loss, optimizer)) {
      if (shard == 0) order.push_back(variable);
      gradients[variable.node].push_back(gradient);
    }
  std::vector<nn::VariableGradient> means;
  for (const Output& variable : order)
    means.push_back({weighted_mean(builder.root(), gradients[variable.node], samples), variable});
  return means;
}

/// Adds one update with the mean of the gradients of all towers.
void add_update(const config::Train& train, const ModelBuilder& builder, const std::vector<Tower>& towers,
                const std::optional<nn::WeightAverages>& weight_averages, TrainingGraph& result) {
  const Scope& root = builder.root();
  std::vector<Output> losses, samples;
  for (size_t shard = 0; shard < towers.size(); ++shard) {
    losses.push_back(*towers[shard].model.loss);
    samples.push_back(result.shards[shard].samples);
  }
  result.loss = root.with_name("batch_loss").add_one("Identity", {weighted_mean(root, losses, samples)});
  const auto factor = rate_factor(train, builder.with_variables());
  const auto optimizer = make_optimizer(train, factor);
  nn::ReplicationStrategy strategy;
  strategy.read_first(root, {result.loss});
  std::vector<Output> updates = {
      optimizer->apply_gradients(root, mean_gradients(builder, towers, samples, *optimizer), strategy)};
  if (weight_averages) updates.push_back(weight_averages->update(root, strategy));
  if (!towers.front().averages.empty())
    updates.push_back(update_averages(root, mean_averages(root, towers, samples), strategy));
  result.update = updates.size() == 1 ? updates.front() : root.group(updates);
  if (factor) result.lower_rate = lower_rate(*train.plateau, root, *factor);
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
  TrainingGraph result;
  std::vector<Tower> towers;
  for (int64_t shard = 0; shard < builder.shards(); ++shard) {
    result.shards.push_back(builder.inputs(builder.at_shard(shard), DType::Float));
    towers.push_back(builder.tower(builder.at_shard(shard), result.shards.back(), nn::Mode::Training));
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
  add_update(config.train, builder, towers, averages, result);
  result.initializer = initializer(builder.root());
  result.variables = variables(graph);
  for (const Output& variable : trainable_variables(graph))
    result.parameters += value_or_throw(graph.shape(variable).to_shape(graph.dtype(variable))).elements();
  return result;
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train
