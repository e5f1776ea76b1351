#include "apps/train/model_builder.h"

#include "graph/build/call.h"

namespace troupe::train {
namespace {

Output as_type(const Scope& scope, Output number, Output like) {
  if (scope.dtype(number) == scope.dtype(like)) return number;
  return scope.add_one("Cast", {number}, {{"DstT", scope.dtype(like)}});
}

}  // namespace

int64_t ModelBuilder::tasks(const std::string& job) const {
  const auto at = config_.cluster.tasks.find(job);
  return at == config_.cluster.tasks.end() ? 0 : at->second;
}

Scope ModelBuilder::on_worker(const Scope& scope, int64_t shard) const {
  if (tasks("worker") == 0) return scope;
  return scope.with_device("/job:worker/task:" + std::to_string(shard % tasks("worker")));
}

Scope ModelBuilder::at_shard(int64_t shard) const {
  return on_worker(root_.with_prefix("shard_" + std::to_string(shard)), shard);
}

Scope ModelBuilder::with_variables() const {
  if (tasks("ps") == 0) return on_worker(root_, 0);
  return root_.with_device("/job:ps/task:" +
                           std::to_string(variables_.size() % static_cast<size_t>(tasks("ps"))));
}

TowerInputs ModelBuilder::inputs(const Scope& scope, std::optional<DType> samples) const {
  TowerInputs result;
  for (const data::Column& column : data_.columns()) {
    std::vector<int64_t> dims(column.values.shape().dims().begin(), column.values.shape().dims().end());
    dims[0] = unknown_dim;
    result.columns.emplace_back(column.name, scope.with_name(column.name)
                                                 .add_one("Placeholder", {},
                                                          {{"dtype", column.values.dtype()},
                                                           {"shape", PartialShape(std::move(dims))}}));
  }
  if (samples)
    result.samples = scope.with_name("samples").add_one(
        "Placeholder", {}, {{"dtype", *samples}, {"shape", PartialShape::scalar()}});
  return result;
}

Tower ModelBuilder::tower(const Scope& scope, const TowerInputs& inputs, nn::Mode mode,
                          const std::function<Output(Output variable)>& use) {
  config::Symbols symbols;
  for (const auto& [name, output] : inputs.columns) symbols.values[name] = Argument(output);
  const nn::Network network(scope, mode, [&](const nn::Weight& weight) { return use(variable(weight)); });
  Tower tower;
  tower.model = config::build_model(config_, network, std::move(symbols), diagnostics_);
  for (const nn::MovingAverage& average : network.averages())
    tower.averages.push_back({variables_.at(average.weight.name), average.difference, average.rate});
  return tower;
}

Output ModelBuilder::variable(const nn::Weight& weight) {
  const auto known = variables_.find(weight.name);
  if (known != variables_.end()) return known->second;
  const Scope scope = with_variables();
  const Output first = weight.initial(scope.with_prefix(weight.name), weight.shape, weight.dtype);
  return variables_.emplace(weight.name, troupe::variable(scope, first, weight.name, weight.trainable))
      .first->second;
}

std::unique_ptr<nn::Optimizer> ModelBuilder::optimizer() const {
  const config::Optimizer& options = config_.train.optimizer;
  if (options.type == "momentum")
    return std::make_unique<nn::Momentum>(options.learning_rate, options.momentum, options.nesterov);
  if (options.type == "adam")
    return std::make_unique<nn::Adam>(options.learning_rate, options.beta1, options.beta2, options.epsilon);
  if (options.type == "sgd") return std::make_unique<nn::Sgd>(options.learning_rate);
  throw Error(internal("unknown optimizer '" + options.type + "'"));
}

Output weighted_mean(const Scope& scope, const std::vector<Output>& values,
                     const std::vector<Output>& samples) {
  if (values.size() == 1) return values.front();
  std::vector<Output> terms;
  for (size_t i = 0; i < values.size(); ++i)
    terms.push_back(scope.add_one("Mul", {values[i], as_type(scope, samples[i], values[i])}));
  const Output total = scope.add_one("AddN", samples);
  return scope.add_one("RealDiv", {scope.add_one("AddN", terms), as_type(scope, total, values.front())});
}

Output update_averages(const Scope& scope, const std::vector<AverageUpdate>& averages,
                       nn::ReplicationStrategy& strategy) {
  const Scope inner = scope.with_prefix("averages");
  std::vector<Output> updates;
  for (const auto& [variable, difference, rate] : averages) {
    const Scope beside = inner.colocated_with(variable).with_prefix(scope.graph().node(variable.node).name);
    const Output factor = beside.constant(value_or_throw(to_tensor(rate, scope.dtype(variable))));
    updates.push_back(
        strategy.apply(beside, {"ApplyGradientDescent", {variable}, {factor, difference}, "delta"}));
  }
  return inner.group(updates);
}

}  // namespace troupe::train
