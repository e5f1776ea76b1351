#include "apps/train/training_graph.h"

#include <map>
#include <memory>

#include "apps/config/model.h"
#include "apps/nn/initializers.h"
#include "apps/nn/optimizer.h"

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
  return nn::constant_value(scope, shape, variable.dtype, 0);
}

std::unique_ptr<nn::Optimizer> make_optimizer(const config::Optimizer& options) {
  if (options.type == "momentum")
    return std::make_unique<nn::Momentum>(options.learning_rate, options.momentum, options.nesterov);
  if (options.type == "adam")
    return std::make_unique<nn::Adam>(options.learning_rate, options.beta1, options.beta2, options.epsilon);
  return std::make_unique<nn::Sgd>(options.learning_rate);
}

class Builder {
 public:
  Builder(const config::RunConfig& config, const data::Dataset& data, Graph& graph)
      : config_(config), data_(data), root_(graph), diagnostics_(*config.document) {}

  Result<TrainingGraph> build() {
    TrainingGraph result;
    std::vector<config::BuiltModel> towers;
    const int64_t shards = config_.train.replication.shards;
    for (int64_t shard = 0; shard < shards; ++shard) {
      const Scope scope = on_worker(root_.with_prefix("shard_" + std::to_string(shard)), shard);
      result.shards.push_back(inputs(scope, true));
      towers.push_back(model(scope, result.shards.back()));
    }
    const Scope evaluation = on_worker(root_.with_prefix("evaluation"), 0);
    result.evaluation = inputs(evaluation, false);
    const config::BuiltModel evaluated = model(evaluation, result.evaluation);
    TROUPE_RETURN_IF_FAILED(diagnostics_.status());
    result.evaluation_loss = *evaluated.loss;
    result.metrics = evaluated.metrics;
    add_update(towers, result);
    result.initializer = initializer(root_);
    result.variables = variables(root_.graph());
    for (const Output& variable : trainable_variables(root_.graph()))
      result.parameters += value_or_throw(root_.shape(variable).to_shape(root_.dtype(variable))).elements();
    return result;
  }

 private:
  int64_t tasks(const std::string& job) const {
    const auto at = config_.cluster.tasks.find(job);
    return at == config_.cluster.tasks.end() ? 0 : at->second;
  }
  /// Shards go round the workers; variables to the parameter servers, or the first worker.
  Scope on_worker(const Scope& scope, int64_t shard) const {
    if (tasks("worker") == 0) return scope;
    return scope.with_device("/job:worker/task:" + std::to_string(shard % tasks("worker")));
  }
  Scope with_variables(const Scope& scope) const {
    if (tasks("ps") != 0)
      return scope.with_device("/job:ps/task:" +
                               std::to_string(variables_.size() % static_cast<size_t>(tasks("ps"))));
    return on_worker(scope, 0);
  }

  TowerInputs inputs(const Scope& scope, bool training) const {
    TowerInputs result;
    for (const data::Column& column : data_.columns()) {
      std::vector<int64_t> dims(column.values.shape().dims().begin(), column.values.shape().dims().end());
      dims[0] = unknown_dim;
      result.columns.emplace_back(column.name, scope.with_name(column.name)
                                                   .add_one("Placeholder", {},
                                                            {{"dtype", column.values.dtype()},
                                                             {"shape", PartialShape(std::move(dims))}}));
    }
    if (training)
      result.samples = scope.with_name("samples").add_one(
          "Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
    return result;
  }

  config::BuiltModel model(const Scope& scope, const TowerInputs& inputs) {
    config::Symbols symbols;
    for (const auto& [name, output] : inputs.columns) symbols.values[name] = Argument(output);
    const auto make_variable = [this](const Scope&, const config::Variable& variable) {
      const auto known = variables_.find(variable.name);
      if (known != variables_.end()) return known->second;
      const Scope scope_of_it = with_variables(root_);
      const Output made =
          troupe::variable(scope_of_it, first_value(scope_of_it.with_prefix(variable.name), variable),
                           variable.name, variable.trainable);
      return variables_.emplace(variable.name, made).first->second;
    };
    return config::build_model(config_, scope, std::move(symbols), make_variable, diagnostics_);
  }

  /// sum over shards of value * samples, in shard order, divided by all samples.
  Output weighted_mean(const std::vector<Output>& values, const TrainingGraph& result, Output total) const {
    if (values.size() == 1) return values.front();
    std::vector<Output> terms;
    for (size_t i = 0; i < values.size(); ++i)
      terms.push_back(root_.add_one("Mul", {values[i], as_type(result.shards[i].samples, values[i])}));
    return root_.add_one("RealDiv", {root_.add_one("AddN", terms), as_type(total, values.front())});
  }

  Output as_type(Output number, Output like) const {
    if (root_.dtype(number) == root_.dtype(like)) return number;
    return root_.add_one("Cast", {number}, {{"DstT", root_.dtype(like)}});
  }

  void add_update(const std::vector<config::BuiltModel>& towers, TrainingGraph& result) const {
    std::vector<Output> losses, samples;
    std::map<NodeId, std::vector<Output>> gradients;  // by variable, in shard order
    std::vector<Output> order;
    for (size_t shard = 0; shard < towers.size(); ++shard) {
      losses.push_back(*towers[shard].loss);
      samples.push_back(result.shards[shard].samples);
      const Scope scope =
          on_worker(root_.with_prefix("shard_" + std::to_string(shard)), static_cast<int64_t>(shard));
      for (const auto& [gradient, variable] : nn::compute_gradients(scope, losses.back())) {
        if (shard == 0) order.push_back(variable);
        gradients[variable.node].push_back(gradient);
      }
    }
    const Output total = samples.size() == 1 ? samples.front() : root_.add_one("AddN", samples);
    std::vector<nn::VariableGradient> means;
    for (const Output& variable : order)
      means.push_back({weighted_mean(gradients[variable.node], result, total), variable});
    result.loss = root_.with_name("batch_loss").add_one("Identity", {weighted_mean(losses, result, total)});
    result.update =
        make_optimizer(config_.train.optimizer)->apply_gradients(root_.with_prefix("train"), means);
  }

  const config::RunConfig& config_;
  const data::Dataset& data_;
  Scope root_;
  config::Diagnostics diagnostics_;
  std::map<std::string, Output> variables_;
};

}  // namespace

Result<TrainingGraph> build_training_graph(const config::RunConfig& config, const data::Dataset& data,
                                           Graph& graph) {
  try {
    return Builder(config, data, graph).build();
  } catch (const Error& error) {
    return error.status();
  }
}

}  // namespace troupe::train
