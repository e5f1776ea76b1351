#include "apps/train/model_builder.h"

#include "apps/nn/initializers.h"

namespace troupe::train {
namespace {

Output first_value(const Scope& scope, const config::Variable& variable) {
  const Shape shape = value_or_throw(Shape::make(variable.shape, variable.dtype));
  const auto& initializer = variable.initializer;
  const std::string& type = initializer.type;
  if (type == "ones") return nn::constant_value(scope, shape, variable.dtype, 1);
  if (type == "constant") return nn::constant_value(scope, shape, variable.dtype, initializer.value);
  if (type == "uniform")
    return nn::uniform(scope, shape, variable.dtype, initializer.minimum, initializer.maximum);
  if (type == "normal") return nn::normal(scope, shape, variable.dtype, initializer.mean, initializer.stddev);
  if (type == "truncated_normal")
    return nn::truncated_normal(scope, shape, variable.dtype, initializer.mean, initializer.stddev);
  if (type == "glorot_uniform") return nn::glorot_uniform(scope, shape, variable.dtype);
  if (type == "glorot_normal") return nn::glorot_normal(scope, shape, variable.dtype);
  if (type == "he_normal") return nn::he_normal(scope, shape, variable.dtype);
  if (type == "zeros") return nn::constant_value(scope, shape, variable.dtype, 0);
  throw Error(internal("unknown initializer '" + type + "'"));
}

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

config::BuiltModel ModelBuilder::tower(const Scope& scope, const TowerInputs& inputs,
                                       const std::function<Output(Output variable)>& use) {
  config::Symbols symbols;
  for (const auto& [name, output] : inputs.columns) symbols.values[name] = Argument(output);
  const auto make_variable = [&](const Scope&, const config::Variable& named) {
    return use(variable(named));
  };
  return config::build_model(config_, scope, std::move(symbols), make_variable, diagnostics_);
}

Output ModelBuilder::variable(const config::Variable& named) {
  const auto known = variables_.find(named.name);
  if (known != variables_.end()) return known->second;
  const Scope scope = with_variables();
  const Output made =
      troupe::variable(scope, first_value(scope.with_prefix(named.name), named), named.name, named.trainable);
  return variables_.emplace(named.name, made).first->second;
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

}  // namespace troupe::train
