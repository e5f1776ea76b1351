#include "apps/train/graphs/optimizer_builder.h"

#include "apps/nn/lbfgs.h"
#include "kernels/constructors.h"

namespace troupe::train {
namespace {

nn::Schedule schedule_of_type(const config::Schedule& from, double rate) {
  if (from.type == "constant") return nn::constant_rate(rate);
  if (from.type == "piecewise") {
    std::vector<double> rates;
    for (const double factor : from.factors) rates.push_back(rate * factor);
    return nn::piecewise_constant(from.boundaries, std::move(rates));
  }
  if (from.type == "exponential") return nn::exponential_decay(rate, from.steps, from.factor, from.staircase);
  if (from.type == "natural_exp") return nn::natural_exp_decay(rate, from.steps, from.factor, from.staircase);
  if (from.type == "inverse_time")
    return nn::inverse_time_decay(rate, from.steps, from.factor, from.staircase);
  if (from.type == "polynomial")
    return nn::polynomial_decay(rate, from.steps, from.end, from.power, from.cycle);
  if (from.type == "cosine") return nn::cosine_decay(rate, from.steps, from.alpha);
  if (from.type == "cosine_restarts")
    return nn::cosine_decay_restarts(rate, from.steps, from.period_factor, from.rate_factor, from.alpha);
  throw Error(internal("unknown schedule '" + from.type + "'"));
}

}  // namespace

std::optional<Output> rate_factor(const config::Train& train, const Scope& scope) {
  if (!train.plateau) return {};
  return variable(scope, scope.constant(Tensor::scalar(1.0f)), "learning_rate_factor", false);
}

nn::LearningRate learning_rate(const config::Train& train, std::optional<Output> factor) {
  nn::LearningRate rate = train.optimizer.learning_rate;
  if (train.schedule) {
    const nn::Schedule schedule = schedule_of_type(*train.schedule, train.optimizer.learning_rate);
    rate = train.schedule->warm_up > 0 ? nn::warm_up(train.schedule->warm_up, schedule) : schedule;
  }
  return factor ? rate.times(*factor) : rate;
}

std::unique_ptr<nn::Optimizer> make_optimizer(const config::Train& train, std::optional<Output> factor,
                                              nn::FactorsOf factors) {
  return make_optimizer(train.optimizer, learning_rate(train, factor), std::move(factors));
}

std::unique_ptr<nn::Optimizer> make_optimizer(const config::Optimizer& optimizer, nn::LearningRate rate,
                                              nn::FactorsOf factors) {
  if (optimizer.type == "lbfgs") {
    const auto history = optimizer.hyperparameters.find("history");
    if (history == optimizer.hyperparameters.end()) return std::make_unique<nn::Lbfgs>(std::move(rate));
    return std::make_unique<nn::Lbfgs>(std::move(rate), static_cast<int64_t>(history->second));
  }
  auto method =
      std::make_unique<nn::MethodOptimizer>(optimizer.type, std::move(rate), optimizer.hyperparameters);
  method->set_factors(std::move(factors));
  return method;
}

std::unique_ptr<nn::Optimizer> make_replica_optimizer(const config::Train& train,
                                                      std::optional<Output> factor, nn::FactorsOf factors) {
  auto optimizer = make_optimizer(train, factor, std::move(factors));
  if (!optimizer->allows_replicas())
    throw Error(invalid_argument(
        "train.optimizer.type is '" + train.optimizer.type +
        "', which needs all variables and gradients in one place; it cannot train replicas"));
  return optimizer;
}

Output lower_rate(const config::Plateau& plateau, const Scope& scope, Output factor) {
  const Scope here = scope.colocated_with(factor);
  const Output lowered = maximum(here, mul(here, factor, plateau.factor), plateau.min_factor);
  return here.add_one("Assign", {factor, lowered});
}

std::optional<nn::GradientCompression> make_compression(const config::Replication& replication) {
  if (replication.compression == "bfloat16") return nn::GradientCompression(DType::BFloat16);
  if (replication.compression == "float16") return nn::GradientCompression(DType::Half);
  if (replication.compression == "topk") return nn::GradientCompression(replication.keep);
  return {};
}

}  // namespace troupe::train
