#include "apps/train/graphs/pipelined_shards.h"

#include "apps/train/graphs/stage_devices.h"
#include "graph/build/gradients_beside.h"
#include "graph/build/shard_names.h"
#include "kernels/constructors.h"

namespace troupe::train {
namespace {

/// The gradients of a shard by one variable, while the micro-batches are added.
struct Sum {
  Output variable;
  Output weighted;                  ///< of dense gradients: the sum, weighted by samples
  std::vector<Gradient> gradients;  ///< one for each micro-batch so far
};

/// Sums the gradients of the micro-batches of a shard, in their order, and as soon as they are there.
class GradientSums {
 public:
  /// There are `count` micro-batches.
  explicit GradientSums(int64_t count) : count_(count) {}

  /// Adds the gradient of the next micro-batch. Returns what it becomes.
  Output add(const Scope& scope, const nn::VariableGradient& gradient, Output samples) {
    const auto known = std::ranges::find(sums_, gradient.variable, &Sum::variable);
    Sum& sum = known == sums_.end() ? sums_.emplace_back(Sum{gradient.variable, {}, {}}) : *known;
    sum.gradients.push_back(gradient.gradient);
    const auto* const dense = std::get_if<Output>(&gradient.gradient);
    if (count_ == 1 || !dense) return nn::values_of(gradient.gradient);
    const Scope here = beside(scope, gradient).with_prefix("sum");
    const Output weighted = mul(here, *dense, as_type(here, samples, *dense));
    sum.weighted = sum.gradients.size() == 1 ? weighted : here.add_one("AddN", {sum.weighted, weighted});
    return sum.weighted;
  }

  /// Returns the means, weighted by samples.
  std::vector<nn::VariableGradient> means(const Scope& scope, const std::vector<Output>& samples,
                                          Output total) const {
    std::vector<nn::VariableGradient> result;
    for (const Sum& sum : sums_) {
      const Scope here = beside(scope, {sum.gradients.front(), sum.variable}).with_prefix("mean");
      if (count_ > 1 && std::holds_alternative<Output>(sum.gradients.front()))
        result.push_back({div(here, sum.weighted, as_type(here, total, sum.weighted)), sum.variable});
      else
        result.push_back({weighted_mean(here, sum.gradients, samples), sum.variable});
    }
    return result;
  }

 private:
  const int64_t count_;
  std::vector<Sum> sums_;  ///< in the order of the first micro-batch
};

std::vector<Pipeline> pipelines(const config::RunConfig& config) {
  std::vector<Pipeline> result;
  for (const auto& devices : value_or_throw(stage_devices(config))) result.emplace_back(devices);
  return result;
}

/// Returns the gradient by a variable; if that is a part, on the device that uses it.
Gradient beside_part(const Scope& scope, const Gradient& gradient, Output variable,
                     const Pipeline& pipeline) {
  const std::string device = pipeline.device_of_part(variable);
  if (device.empty() || !std::holds_alternative<Output>(gradient)) return gradient;
  return scope.with_prefix("part").with_device(device).add_one("Identity", {std::get<Output>(gradient)});
}

/// Adds the backward pass of a micro-batch.
void add_backward(const Scope& scope, Output loss, Output samples, Pipeline& pipeline, GradientSums& sums) {
  std::vector<Output> xs = pipeline.entered();
  const size_t entered = xs.size();
  for (const Output& variable : trainable_variables(scope.graph())) xs.push_back(variable);
  const auto found = gradients_beside(scope, {loss}, xs);
  std::vector<std::optional<Output>> leaving;
  std::vector<Output> results;
  for (size_t i = 0; i < xs.size(); ++i) {
    const bool present = !std::holds_alternative<std::monostate>(found[i]);
    if (i >= entered && present)
      results.push_back(sums.add(scope, {beside_part(scope, found[i], xs[i], pipeline), xs[i]}, samples));
    else if (i < entered)
      leaving.push_back(present ? std::optional(nn::values_of(found[i])) : std::nullopt);
  }
  pipeline.end_backward(leaving, results);
}

std::vector<AverageUpdate> mean_averages(const Scope& scope, const std::vector<Tower>& towers,
                                         const std::vector<Output>& samples) {
  std::vector<AverageUpdate> result = towers.front().averages;
  for (size_t i = 0; i < result.size(); ++i) {
    std::vector<Output> differences;
    for (const Tower& tower : towers) differences.push_back(tower.averages[i].difference);
    const Scope here = scope.with_device(scope.graph().node(differences.front().node).device);
    result[i].difference = weighted_mean(here, differences, samples);
  }
  return result;
}

}  // namespace

PipelinedShards::PipelinedShards(const config::RunConfig& config, ModelBuilder& builder)
    : micro_batches_(config.train.micro_batches), builder_(builder), groups_(pipelines(config)),
      evaluation_(groups_.front()) {}

ShardParts PipelinedShards::add(int64_t shard, std::vector<TowerInputs>& inputs) {
  Pipeline& pipeline = groups_[static_cast<size_t>(shard) % groups_.size()];
  const Scope whole = builder_.root().with_prefix(shard_prefix(shard));
  GradientSums sums(micro_batches_);
  std::vector<Tower> towers;
  std::vector<Output> losses, samples;
  for (int64_t i = 0; i < micro_batches_; ++i) {
    const Scope scope = micro_batches_ == 1 ? whole : whole.with_prefix("micro_" + std::to_string(i));
    samples.push_back(inputs.emplace_back(builder_.inputs(scope, DType::Float)).samples);
    pipeline.begin(scope);
    towers.push_back(builder_.tower(
        scope, inputs.back(), nn::Mode::Training, [](Output variable) { return variable; }, &pipeline));
    if (const Status status = builder_.status(); !status.ok()) throw Error(status);
    losses.push_back(*towers.back().model.loss);
    pipeline.end_forward(losses.back());
    const Scope at_loss = scope.with_device(scope.graph().node(losses.back().node).device);
    add_backward(scope, builder_.scaled_loss(at_loss, losses.back()), samples.back(), pipeline, sums);
  }
  const Output total = samples.size() == 1 ? samples.front() : whole.add_one("AddN", samples);
  return {weighted_mean(whole, losses, samples), total, mean_averages(whole, towers, samples),
          sums.means(whole, samples, total)};
}

Scope beside(const Scope& scope, const nn::VariableGradient& gradient) {
  return scope.with_device(scope.graph().node(nn::values_of(gradient.gradient).node).device);
}

}  // namespace troupe::train
