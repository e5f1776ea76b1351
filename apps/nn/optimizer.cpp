#include "apps/nn/optimizer.h"

#include <algorithm>
#include <cmath>

#include "apps/nn/as_type.h"
#include "apps/nn/optimizer_methods.h"
#include "apps/nn/partitioned_variable.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

constexpr std::string_view power_suffix = "_power";

Output scalar_like(const Scope& scope, double value, Output like) {
  return scope.constant(value_or_throw(to_tensor(Argument(value), scope.dtype(like))));
}

/// Variables are made outside of all branches and loops, so that they get their first values whether or not these run.
Scope outside(const Scope& scope) { return scope.in_context(nullptr).without_control(); }

bool is_rows(const Gradient& gradient) { return std::holds_alternative<IndexedSlices>(gradient); }

/// One update of all variables by a method, while it is added to a graph.
class Update {
 public:
  /// `scope` has the name of the method as prefix; `first` is the first variable to be updated.
  Update(const Scope& scope, const OptimizerMethod& method, const Hyperparameters& numbers,
         const LearningRate& rate, Output first, ReplicationStrategy& strategy)
      : scope_(scope), shared_(scope.colocated_with(first)), counting_(beside(scope, first)), method_(method),
        numbers_(numbers), rate_(rate), first_(first), strategy_(strategy) {
    if (rate.is_constant()) return;
    const Output step = rate.needs_step() ? cast(scope, strategy.value(step_variable()), f32) : Output();
    current_rate_ = rate.at(scope, step, strategy);
  }

  /// Adds the update of a variable. `gradient` is dense, or rows if the method takes them.
  void apply(const Gradient& gradient, Output variable, const UpdateFactors& factors) {
    factors_ = factors;
    const Scope here = scope_.colocated_with(variable).with_prefix(scope_.graph().node(variable.node).name);
    Rule rule = make_rule(here, gradient, variable);
    const double decay = decay_beside_op() * factors.weight_decay;
    if (decay == 0) return applied_.push_back(strategy_.apply(here, rule));
    // The weights decay once their gradient is there: before, others may still read them.
    const Scope after = here.with_control({{values_of(gradient).node, Output::control}});
    rule.after = {strategy_.apply(after, decay_rule(here, decay, variable))};
    applied_.push_back(strategy_.apply(here, rule));
  }

  /// Adds what follows the updates of the variables, and returns the target.
  Output finish() {
    const Scope after = strategy_.after(shared_, applied_), counted = strategy_.after(counting_, applied_);
    for (const auto& [input, power] : powers_)
      applied_.push_back(
          strategy_.apply(shared_, {"Assign",
                                    {power.variable},
                                    {after.add_one("Mul", {strategy_.value(power.variable), power.base})},
                                    {}}));
    if (step_)
      applied_.push_back(strategy_.apply(
          counted, {"AssignAdd", {*step_}, {counting_.constant(Tensor::scalar<int64_t>(1))}, {}}));
    return scope_.group(applied_);
  }

 private:
  /// A variable that holds the power of a hyperparameter whose exponent is the number of the next update.
  struct Power {
    Output base, variable;
  };

  Rule make_rule(const Scope& here, const Gradient& gradient, Output variable) {
    Rule rule;
    rule.op = std::string(is_rows(gradient) ? "SparseApply" : "Apply") + std::string(method_.op);
    rule.variables.push_back(variable);
    for (const OptimizerSlot& slot : method_.slots) rule.variables.push_back(add_slot(here, slot, variable));
    const OpDef& op = *value_or_throw(here.graph().ops()->require(rule.op));
    const Gradient used =
        is_rows(gradient) ? strategy_.distinct_rows(here, std::get<IndexedSlices>(gradient)) : gradient;
    for (size_t i = rule.variables.size(); i < op.inputs.size(); ++i) {
      const std::string& name = op.inputs[i].name;
      if (name == "grad" || name == "delta") {
        rule.gradient = name;
        rule.values.push_back(values_of(used));
      } else if (name == "indices") {
        rule.indices = name;
        rule.values.push_back(std::get<IndexedSlices>(used).indices);
      } else {
        rule.values.push_back(scalar(here, name, variable));
      }
    }
    rule.options = options();
    return rule;
  }

  /// Returns the weight decay, 0 if there is none or the op has it.
  double decay_beside_op() const {
    const auto& all = method_.hyperparameters;
    const auto decay = std::ranges::find(all, decoupled_decay, &Hyperparameter::name);
    return decay == all.end() || !decay->input.empty() ? 0 : numbers_.find(decay->name)->second;
  }

  Output add_slot(const Scope& here, const OptimizerSlot& slot, Output variable) const {
    const double initial = slot.is_accumulator ? numbers_.find(first_accumulator)->second : slot.initial;
    const DType dtype = here.dtype(variable);
    const Scope out = outside(here);
    const Output value = zeros(out, here.shape(variable), dtype, initial);
    return companion_variable(out, value, slot.name, variable);
  }

  std::vector<std::string> options() const {
    std::vector<std::string> result = method_.options;
    for (const Hyperparameter& flag : method_.hyperparameters)
      if (!flag.option.empty() && numbers_.find(flag.name)->second != 0) result.emplace_back(flag.option);
    return result;
  }

  /// Returns the value of a scalar input of the op, on the device of the variable if it is constant.
  Output scalar(const Scope& here, const std::string& input, Output variable) {
    if (input == "global_step") {
      const Output one = here.constant(Tensor::scalar<int64_t>(1));
      return add(here, strategy_.value(step_variable()), one);
    }
    for (const Hyperparameter& parameter : method_.hyperparameters) {
      const double number = numbers_.find(parameter.name)->second;
      const double factor = parameter.name == decoupled_decay ? factors_.weight_decay : 1;
      if (parameter.input == input) return scalar_like(here, number * factor, variable);
      if (parameter.name + std::string(power_suffix) == input)
        return as_type(here, strategy_.value(power(input, number)), here.dtype(variable));
    }
    if (input == "lr" || input == "alpha") return rate(here, variable);
    throw Error(internal("the optimizer '" + method_.name + "' has no value for the input '" + input + "'"));
  }

  double constant_rate() const { return rate_.constant() * factors_.learning_rate; }

  Output rate(const Scope& here, Output variable) const {
    if (rate_.is_constant()) return scalar_like(here, constant_rate(), variable);
    const Output rate = as_type(here, current_rate_, here.dtype(variable));
    if (factors_.learning_rate == 1) return rate;
    return mul(here, rate, scalar_like(here, factors_.learning_rate, variable));
  }

  Rule decay_rule(const Scope& here, double decay, Output variable) const {
    const Output factor = rate_.is_constant()
                              ? scalar_like(here, constant_rate() * decay, variable)
                              : mul(here, rate(here, variable), scalar_like(here, decay, variable));
    return {"ApplyGradientDescent", {variable}, {factor, identity(here, variable)}, {}};
  }

  Output power(const std::string& input, double base) {
    const auto known = powers_.find(input);
    if (known != powers_.end()) return known->second.variable;
    const Scope out = outside(shared_);
    const Output value = scalar_like(out, base, first_);
    return powers_.emplace(input, Power{value, troupe::variable(out, value, input, false)})
        .first->second.variable;
  }

  /// Returns the variable that counts the updates.
  Output step_variable() {
    if (!step_) {
      const Scope out = outside(counting_);
      step_ = troupe::variable(out, out.constant(Tensor::scalar<int64_t>(0)), "global_step", false);
    }
    return *step_;
  }

  Scope scope_, shared_;
  /// Of the count of steps. It is not colocated, because devices without kernels for integers may have the variables.
  Scope counting_;
  const OptimizerMethod& method_;
  const Hyperparameters& numbers_;
  const LearningRate& rate_;
  Output first_;
  ReplicationStrategy& strategy_;
  Output current_rate_;    ///< a float scalar, if the rate is not constant
  UpdateFactors factors_;  ///< of the variable whose update is being added
  std::map<std::string, Power> powers_;
  std::optional<Output> step_;
  std::vector<Output> applied_;
};

void check_factor(const char* what, double factor, const std::string& variable) {
  if (!std::isfinite(factor) || factor < 0)
    throw Error(invalid_argument(std::string("the factor of the ") + what + " of '" + variable + "' is " +
                                 std::to_string(factor) + "; it must be a finite number of at least 0"));
}

void check(const UpdateFactors& factors, const std::string& variable) {
  check_factor("learning rate", factors.learning_rate, variable);
  check_factor("weight decay", factors.weight_decay, variable);
}

void check(const OptimizerMethod& method, const Hyperparameter& parameter, double value) {
  if (value >= parameter.low && (parameter.below_high ? value < parameter.high : value <= parameter.high))
    return;
  throw Error(invalid_argument("the optimizer '" + method.name + "' is given " + parameter.name + " = " +
                               std::to_string(value) + "; allowed: from " + std::to_string(parameter.low) +
                               (parameter.below_high ? " to below " : " to ") +
                               std::to_string(parameter.high)));
}

Hyperparameters with_defaults(const OptimizerMethod& method, const Hyperparameters& given) {
  Hyperparameters result;
  for (const Hyperparameter& parameter : method.hyperparameters) {
    const auto found = given.find(parameter.name);
    const double value = found == given.end() ? parameter.initial : found->second;
    check(method, parameter, value);
    result[parameter.name] = value;
  }
  for (const auto& [name, value] : given)
    if (!result.contains(name))
      throw Error(
          invalid_argument("the optimizer '" + method.name + "' has no hyperparameter '" + name + "'"));
  return result;
}

}  // namespace

Output Optimizer::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const {
  ReplicationStrategy none;
  return apply_gradients(scope, gradients, none);
}

Output Optimizer::minimize(const Scope& scope, Output loss, std::vector<Output> variables) const {
  ReplicationStrategy none;
  none.read_first(scope, {loss});
  return apply_gradients(scope, compute_gradients(scope, loss, std::move(variables)), none);
}

LearningRate::LearningRate(double rate) : rate_(rate) {
  if (!std::isfinite(rate) || rate < 0)
    throw Error(invalid_argument("the learning rate is " + std::to_string(rate) +
                                 "; it must be a finite number of at least 0"));
}

Schedule LearningRate::given(Schedule schedule) {
  if (!schedule) throw Error(invalid_argument("the schedule of the learning rate is an empty function"));
  return schedule;
}

LearningRate LearningRate::times(Output factor) const {
  LearningRate result = *this;
  result.factor_ = factor;
  return result;
}

Output LearningRate::at(const Scope& scope, Output step, ReplicationStrategy& strategy) const {
  const Output rate = schedule_ ? schedule_(scope, step) : constant_rate(rate_)(scope, step);
  return factor_ ? mul(scope, rate, strategy.value(*factor_)) : rate;
}

MethodOptimizer::MethodOptimizer(std::string_view method, LearningRate rate, const Hyperparameters& given)
    : method_(optimizer_method(method)), rate_(std::move(rate)), numbers_(with_defaults(method_, given)) {
  if (method_.op.empty())
    throw Error(
        invalid_argument("the optimizer '" + method_.name + "' does not update each variable by one op"));
}

bool MethodOptimizer::takes_rows() const {
  if (!method_.on_rows) return false;
  const auto lazy = numbers_.find(lazy_flag);
  return lazy == numbers_.end() || lazy->second != 0;
}

Output MethodOptimizer::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                                        ReplicationStrategy& strategy) const {
  if (gradients.empty())
    throw Error(
        invalid_argument("there are no gradients to apply: the loss depends on no trainable variable"));
  std::vector<Output> values;
  for (const VariableGradient& one : gradients) values.push_back(values_of(one.gradient));
  strategy.read_first(scope, values);
  const Scope inner = scope.with_prefix(method_.name);
  Update update(inner, method_, numbers_, rate_, gradients.front().variable, strategy);
  for (const auto& [gradient, variable] : takes_rows() ? gradients : all_dense(inner, gradients)) {
    const UpdateFactors factors = factors_ ? factors_(variable) : UpdateFactors();
    check(factors, scope.graph().node(variable.node).name);
    update.apply(gradient, variable, factors);
  }
  return update.finish();
}

}  // namespace troupe::nn
