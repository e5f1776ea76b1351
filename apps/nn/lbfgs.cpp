#include "apps/nn/lbfgs.h"

#include <numeric>

#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// The smallest product of a step and the change of the gradient that is remembered.
constexpr double min_curvature = 1e-10;

/// The last steps and the changes of the gradient that they caused, from the oldest to the newest. Rows that are not filled yet are
/// zeros.
struct History {
  Output steps, changes;    ///< [history, n]
  Output inverse_products;  ///< [history]: 1 / (step . change), or 0
  Output scale;  ///< a scalar: the first estimate of the inverse of the Hessian is `scale` times the identity
};

Output dot(const Scope& g, Output a, Output b) { return sum(g, mul(g, a, b)); }

/// Returns the rows of a history without the oldest, and `newest`.
Output shifted(const Scope& g, Output rows, Output newest) {
  const int64_t count = g.shape(rows)[0];
  std::vector<Output> parts;
  if (count > 1) parts.push_back(strided_slice(g, rows, {1}, {count}, {1}));
  parts.push_back(expand_dims(g, newest, 0));
  return concat(g, parts, 0);
}

/// Adds a step to the history, if the gradient grew along it.
History remembered(const Scope& g, const History& before, Output step, Output change) {
  const Output product = dot(g, step, change), keeps = greater(g, product, min_curvature);
  const auto chosen = [&](Output after, Output old) { return where_v2(g, keeps, after, old); };
  return {chosen(shifted(g, before.steps, step), before.steps),
          chosen(shifted(g, before.changes, change), before.changes),
          chosen(shifted(g, before.inverse_products, reciprocal(g, product)), before.inverse_products),
          chosen(div_no_nan(g, product, dot(g, change, change)), before.scale)};
}

/// Returns -H gradient by the two-loop recursion.
Output direction(const Scope& g, const History& history, Output gradient) {
  const auto rows = [&](Output all) { return unstack(g, all, g.shape(all)[0]); };
  const auto steps = rows(history.steps), changes = rows(history.changes),
             inverses = rows(history.inverse_products);
  std::vector<Output> weights(steps.size());
  Output result = neg(g, gradient);
  for (size_t i = steps.size(); i-- > 0;) {
    weights[i] = mul(g, inverses[i], dot(g, steps[i], result));
    result = sub(g, result, mul(g, weights[i], changes[i]));
  }
  result = mul(g, result, history.scale);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Output along = mul(g, inverses[i], dot(g, changes[i], result));
    result = add(g, result, mul(g, steps[i], sub(g, weights[i], along)));
  }
  return result;
}

int64_t elements_of(const Scope& g, Output variable) {
  const auto dims = g.shape(variable).dims();
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies());
}

/// The gradients as one vector.
Output flat(const Scope& g, const std::vector<VariableGradient>& gradients) {
  const DType dtype = g.dtype(gradients.front().variable);
  std::vector<Output> parts;
  for (const auto& [gradient, variable] : gradients) {
    if (g.dtype(variable) != dtype)
      throw Error(invalid_argument("the optimizer 'lbfgs' updates " + std::string(name(dtype)) +
                                   " variables; '" + g.graph().node(variable.node).name + "' is " +
                                   std::string(name(g.dtype(variable)))));
    parts.push_back(reshape(g, values_of(gradient), {-1}));
  }
  return parts.size() == 1 ? parts[0] : concat(g, parts, 0);
}

}  // namespace

Lbfgs::Lbfgs(LearningRate rate, int64_t history) : rate_(std::move(rate)), history_(history) {
  if (history < 1)
    throw Error(invalid_argument("the optimizer 'lbfgs' is given history = " + std::to_string(history) +
                                 "; it must be positive"));
}

Output Lbfgs::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& given,
                              ReplicationStrategy& strategy) const {
  if (given.empty())
    throw Error(
        invalid_argument("there are no gradients to apply: the loss depends on no trainable variable"));
  const Scope inner = scope.with_prefix("lbfgs");
  const auto gradients = all_dense(inner, given);
  const Scope g = inner.colocated_with(gradients.front().variable);
  const DType dtype = g.dtype(gradients.front().variable);
  int64_t elements = 0;
  for (const VariableGradient& each : gradients) elements += elements_of(g, each.variable);
  const auto state = [&](const char* name, const PartialShape& shape, double value = 0) {
    return variable(g, zeros(g, shape, dtype, value), name, false);
  };
  const History history{state("steps", {history_, elements}), state("changes", {history_, elements}),
                        state("inverse_products", {history_}), state("scale", Shape{}, 1)};
  const Output last_step = state("step", {elements}), last_gradient = state("gradient", {elements});
  const Output updates = variable(g, g.constant(Tensor::scalar<int64_t>(0)), "global_step", false);

  const Output gradient = flat(g, gradients);
  const History now = remembered(g, history, last_step, sub(g, gradient, last_gradient));
  const Output is_first = equal(g, updates, 0);
  const Output shortened = minimum(g, reciprocal(g, sum(g, abs(g, gradient))), 1);
  const Argument rate = rate_.is_constant()
                            ? Argument(rate_.constant())
                            : Argument(cast(g, rate_.at(g, cast(g, updates, f32), strategy), dtype));
  const Output length = mul(g, where_v2(g, is_first, shortened, ones_like(g, shortened)), rate);
  const Output step = mul(g, direction(g, now, gradient), length);

  // The step depends on all that the state held before.
  const Scope after = g.with_control({{step.node, Output::control}});
  std::vector<Output> applied;
  const auto apply = [&](const Scope& at, const char* op, Output target, Output value) {
    applied.push_back(strategy.apply(at, {op, {target}, {value}, {}}));
  };
  apply(after, "Assign", history.steps, now.steps);
  apply(after, "Assign", history.changes, now.changes);
  apply(after, "Assign", history.inverse_products, now.inverse_products);
  apply(after, "Assign", history.scale, now.scale);
  apply(after, "Assign", last_step, step);
  apply(after, "Assign", last_gradient, gradient);
  apply(after, "AssignAdd", updates, g.constant(Tensor::scalar<int64_t>(1)));
  int64_t begin = 0;
  for (const VariableGradient& each : gradients) {
    const Scope here = after.colocated_with(each.variable);
    const int64_t end = begin + elements_of(g, each.variable);
    apply(here, "AssignAdd", each.variable,
          reshape(here, strided_slice(here, step, {begin}, {end}, {1}), g.shape(each.variable)));
    begin = end;
  }
  return inner.group(applied);
}

}  // namespace troupe::nn
