#include "apps/nn/optimizer_methods.h"

#include <algorithm>
#include <utility>

#include "messages/values/status.h"

namespace troupe::nn {
namespace {

Hyperparameter number(std::string_view name, double initial, std::string_view input,
                      std::string_view meaning) {
  return {.name = std::string(name), .initial = initial, .input = input, .option = {}, .meaning = meaning};
}

/// A number from 0 to below 1.
Hyperparameter share(std::string_view name, double initial, std::string_view input,
                     std::string_view meaning) {
  Hyperparameter result = number(name, initial, input, meaning);
  result.high = 1;
  result.below_high = true;
  return result;
}

/// A whole number of at least 1, for methods that have a class of their own.
Hyperparameter count(std::string_view name, double initial, std::string_view meaning) {
  Hyperparameter result = number(name, initial, {}, meaning);
  result.low = 1;
  result.high = 1000;
  return result;
}

Hyperparameter flag(std::string_view name, std::string_view option, std::string_view meaning) {
  Hyperparameter result = number(name, 0, {}, meaning);
  result.option = option;
  result.high = 1;
  result.is_flag = true;
  return result;
}

Hyperparameter epsilon(double initial) {
  return number("epsilon", initial, "epsilon", "added to the divisor");
}

Hyperparameter decay(double initial) {
  return share("decay", initial, "rho", "decay of the moving averages of squares");
}

Hyperparameter l1() { return number("l1", 0, "l1", "strength of the L1 regularization"); }
Hyperparameter l2() { return number("l2", 0, "l2", "strength of the L2 regularization"); }

Hyperparameter accumulator() {
  return number(first_accumulator, 0.1, {}, "first value of the accumulated squares");
}

Hyperparameter power() {
  Hyperparameter result = number("power", -0.5, "lr_power", "exponent of the accumulated squares");
  result.low = -std::numeric_limits<double>::infinity();
  result.high = 0;
  return result;
}

Hyperparameter lazy() {
  return flag(lazy_flag, {}, "whether a gradient that is rows changes only those rows of the moments");
}

Hyperparameter weight_decay(double initial) {
  return number(decoupled_decay, initial, {},
                "share of the weights, times the learning rate, that is subtracted");
}

std::vector<Hyperparameter> of_adam() {
  return {share("beta1", 0.9, "beta1", "decay of the first moment"),
          share("beta2", 0.999, "beta2", "decay of the second moment"), epsilon(1e-8), lazy()};
}

std::vector<Hyperparameter> of_adamw() {
  auto result = of_adam();
  result.push_back(weight_decay(0.01));
  return result;
}

std::vector<Hyperparameter> of_lion() {
  return {share("beta1", 0.9, "beta1", "decay of the moment where its sign is taken"),
          share("beta2", 0.99, "beta2", "decay of the moment"), lazy(), weight_decay(0)};
}

/// The decay is part of the op, whose trust ratio depends on it.
Hyperparameter trusted_decay(double initial) {
  return number(decoupled_decay, initial, "weight_decay",
                "share of the weights that is added to the update before its norm is taken");
}

std::vector<Hyperparameter> of_lars() {
  return {share("momentum", 0.9, "momentum", "decay of the accumulated gradient"), trusted_decay(1e-4),
          number("trust_coefficient", 0.001, "trust_coefficient",
                 "norm of an update with a rate of 1, in proportion to that of its variable"),
          epsilon(0)};
}

std::vector<Hyperparameter> of_lamb() {
  return {share("beta1", 0.9, "beta1", "decay of the first moment"),
          share("beta2", 0.999, "beta2", "decay of the second moment"), epsilon(1e-6), trusted_decay(0.01)};
}

/// `base` is how gradients count whose moment has no sign, or the logarithm of a power of the agreement of the signs.
std::vector<Hyperparameter> of_signs(Hyperparameter base) {
  return {std::move(base),
          number("sign_decay", 1, "sign_decay", "how much the agreement of the signs counts"),
          share("beta", 0.9, "beta", "decay of the moment"), lazy()};
}

std::vector<Hyperparameter> of_rmsprop() {
  return {decay(0.9), share("momentum", 0, "momentum", "decay of the accumulated update"), epsilon(1e-10)};
}

std::vector<OptimizerMethod> make_methods() {
  const std::vector<OptimizerSlot> moments = {{"m"}, {"v"}}, squares = {{"accumulator", 0, true}};
  return {
      {"sgd", "GradientDescent", {}, {}},
      {"momentum",
       "Momentum",
       {{"accumulator"}},
       {share("momentum", 0.9, "momentum", "decay of the accumulated gradient"),
        flag("nesterov", "use_nesterov", "whether Nesterov momentum is used")}},
      {"adagrad", "Adagrad", squares, {accumulator()}},
      {"adagrad_da",
       "AdagradDA",
       {{"gradient_accumulator"}, {"gradient_squared_accumulator", 0, true}},
       {l1(), l2(), accumulator()}},
      {"adadelta", "Adadelta", {{"accum"}, {"accum_update"}}, {decay(0.95), epsilon(1e-8)}},
      {"adam", "Adam", moments, of_adam()},
      {"adamw", "Adam", moments, of_adamw()},
      {"nadam", "Adam", moments, of_adam(), {"use_nesterov"}},
      {"amsgrad", "AdamWithAmsgrad", {{"m"}, {"v"}, {"vhat"}}, of_adam()},
      {"adamax", "AdaMax", moments, of_adam()},
      {"lion", "Lion", {{"m"}}, of_lion()},
      {"lars", "Lars", {{"accumulator"}}, of_lars(), {}, false},
      {"lamb", "Lamb", moments, of_lamb(), {}, false},
      {"add_sign",
       "AddSign",
       {{"m"}},
       of_signs(number("alpha", 1, "alpha", "factor of the gradient where the signs do not count"))},
      {"power_sign",
       "PowerSign",
       {{"m"}},
       of_signs(number("log_base", 1, "logbase", "logarithm of the factor of a gradient whose sign agrees"))},
      {"rmsprop", "RMSProp", {{"rms", 1}, {"momentum"}}, of_rmsprop()},
      {"centered_rmsprop", "CenteredRMSProp", {{"mg"}, {"rms", 1}, {"momentum"}}, of_rmsprop()},
      {"ftrl",
       "FtrlV2",
       {{"accumulator", 0, true}, {"linear"}},
       {l1(), l2(), power(), accumulator(),
        number("shrinkage", 0, "l2_shrinkage", "strength of the L2 shrinkage")}},
      {"proximal_sgd", "ProximalGradientDescent", {}, {l1(), l2()}},
      {"proximal_adagrad", "ProximalAdagrad", squares, {l1(), l2(), accumulator()}},
      {"lbfgs", {}, {}, {count("history", 10, "number of updates that are remembered")}},
  };
}

}  // namespace

const std::vector<OptimizerMethod>& optimizer_methods() {
  static const std::vector<OptimizerMethod> methods = make_methods();
  return methods;
}

const OptimizerMethod& optimizer_method(std::string_view name) {
  const auto& methods = optimizer_methods();
  const auto found = std::ranges::find(methods, name, &OptimizerMethod::name);
  if (found != methods.end()) return *found;
  std::string known;
  for (const OptimizerMethod& method : methods) known += (known.empty() ? "" : ", ") + method.name;
  throw Error(invalid_argument("there is no optimizer '" + std::string(name) + "'; known: " + known));
}

}  // namespace troupe::nn
