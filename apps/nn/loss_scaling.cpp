#include "apps/nn/loss_scaling.h"

#include "apps/nn/as_type.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

void check_positive(const char* what, double number) {
  if (!(number > 0))
    throw Error(invalid_argument(std::string("LossScaling: ") + what + " is " + std::to_string(number) +
                                 "; it must be above 0"));
}

}  // namespace

LossScaling::LossScaling(double scale) : fixed_(scale) { check_positive("the scale", scale); }

LossScaling::LossScaling(const Scope& scope, const Dynamic& options) : grow_after_(options.grow_after) {
  check_positive("the first scale", options.initial);
  check_positive("grow_after", static_cast<double>(options.grow_after));
  const auto add = [&](double initial, const char* name) {
    return variable(scope, scope.constant(Tensor::scalar(static_cast<float>(initial))), name, false);
  };
  state_ = {add(options.initial, "loss_scale"), add(0, "loss_scale_age")};
}

/// Returns the scale, or 1 / scale, as a scalar.
Output LossScaling::factor(const Scope& scope, DType dtype, bool inverse) const {
  if (!state_)
    return scope.constant(value_or_throw(to_tensor(Argument(inverse ? 1 / fixed_ : fixed_), dtype)));
  return as_type(scope, inverse ? reciprocal(scope, state_->scale) : state_->scale, dtype);
}

Output LossScaling::scaled(const Scope& scope, Output loss) const {
  const Scope here = scope.with_prefix("loss_scaling");
  return mul(here, loss, factor(here, here.dtype(loss), false));
}

std::vector<VariableGradient> LossScaling::unscaled(const Scope& scope,
                                                    std::vector<VariableGradient> gradients,
                                                    const ScopeOfGradient& at) const {
  for (VariableGradient& each : gradients) {
    const Scope here = (at ? at(scope, each) : scope).with_prefix("loss_scaling");
    const Output values = values_of(each.gradient);
    each.gradient = with_values(each.gradient, mul(here, values, factor(here, here.dtype(values), true)));
  }
  return gradients;
}

std::vector<VariableGradient> LossScaling::where_finite(const Scope& scope,
                                                        std::vector<VariableGradient> gradients,
                                                        const ScopeOfGradient& at) {
  const Scope inner = scope.with_prefix("loss_scaling");
  std::vector<Output> sums;
  for (const VariableGradient& each : gradients) {
    const Scope here = at ? at(inner, each) : inner;
    sums.push_back(as_type(here, l2_loss(here, values_of(each.gradient)), f32));
  }
  finite_ = is_finite(inner, inner.add_one("AddN", sums));
  for (VariableGradient& each : gradients) {
    const Scope here = at ? at(inner, each) : inner;
    const NodeId branch = here.add("Switch", {values_of(each.gradient), *finite_});
    each.gradient = with_values(each.gradient, Output{branch, 1});
  }
  return gradients;
}

Output LossScaling::update(const Scope& scope, ReplicationStrategy& strategy) const {
  const Scope here = scope.with_prefix("loss_scaling").colocated_with(state_->scale);
  const Output scale = state_->scale;
  const Output age = add(here, state_->age, 1),
               grown = greater_equal(here, age, static_cast<double>(grow_after_));
  const Output kept = where(here, grown, mul(here, scale, 2), scale);
  const Output lowered = maximum(here, mul(here, scale, 0.5), 1);
  const Output next_age =
      where(here, logical_and(here, *finite_, logical_not(here, grown)), age, zeros_like(here, age));
  return here.group(
      {strategy.apply(here, {"Assign", {state_->scale}, {where(here, *finite_, kept, lowered)}, {}}),
       strategy.apply(here, {"Assign", {state_->age}, {next_age}, {}})});
}

}  // namespace troupe::nn
