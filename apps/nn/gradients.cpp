#include "apps/nn/gradients.h"

#include <cmath>

#include "graph/build/gradient_attrs.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Replaces the tensor of each gradient by f(scope beside the variable, tensor, its VariableGradient).
template <class F>
std::vector<VariableGradient> transformed(const Scope& scope, std::vector<VariableGradient> gradients,
                                          const F& f, const ScopeOfGradient& at = {}) {
  for (VariableGradient& each : gradients) {
    const Scope here = (at ? at(scope, each) : scope)
                           .with_prefix(scope.graph().node(scope.checked(each.variable).node).name);
    each.gradient = with_values(each.gradient, f(here, values_of(each.gradient), each));
  }
  return gradients;
}

/// Returns whether there is a limit: infinity is none. Throws InvalidArgument unless it is above 0.
bool is_limited(const char* function, double limit) {
  if (!(limit > 0))
    throw Error(invalid_argument(std::string(function) + ": the limit is " + std::to_string(limit) +
                                 "; it must be above 0"));
  return std::isfinite(limit);
}

/// Returns whether no number occurs twice, as the node says whose output they are.
bool is_distinct(const Graph& graph, Output numbers) {
  const Node* node = &graph.node(numbers.node);
  while (node->type() == "Reshape") node = &graph.node(node->inputs[0].node);
  return node->attrs.find(distinct_attr) != nullptr;
}

/// Returns the gradients with each row once: what occurs several times counts with its sum.
std::vector<VariableGradient> with_distinct_rows(const Scope& scope, std::vector<VariableGradient> gradients,
                                                 const ScopeOfGradient& at = {}) {
  for (VariableGradient& each : gradients)
    if (const auto* const rows = std::get_if<IndexedSlices>(&each.gradient))
      each.gradient = distinct_rows(at ? at(scope, each) : scope, *rows);
  return gradients;
}

/// Returns the norm of all gradients, whose rows are distinct.
Output norm_of(const Scope& scope, const std::vector<VariableGradient>& gradients,
               const ScopeOfGradient& at) {
  if (gradients.empty()) throw Error(invalid_argument("global_norm: there are no gradients"));
  std::vector<Output> halves;
  for (const VariableGradient& each : gradients)
    halves.push_back(l2_loss(at ? at(scope, each) : scope, values_of(each.gradient)));
  return sqrt(scope, mul(scope, scope.add_one("AddN", halves), 2));
}

Output all_axes(const Scope& scope, Output x) { return range(scope, 0, scope.add_one("Rank", {x}), 1); }

}  // namespace

std::vector<VariableGradient> compute_gradients(const Scope& scope, Output loss,
                                                std::vector<Output> variables) {
  if (variables.empty()) variables = trainable_variables(scope.graph());
  const auto found = gradients(scope, {loss}, variables);
  std::vector<VariableGradient> result;
  for (size_t i = 0; i < variables.size(); ++i)
    if (!std::holds_alternative<std::monostate>(found[i])) result.push_back({found[i], variables[i]});
  return result;
}

std::vector<VariableGradient> clip_by_value(const Scope& scope, std::vector<VariableGradient> gradients,
                                            double limit) {
  if (!is_limited("clip_by_value", limit)) return gradients;
  const Scope inner = scope.with_prefix("clip");
  return transformed(inner, with_distinct_rows(inner, std::move(gradients)),
                     [&](const Scope& here, Output values, const VariableGradient&) {
                       return maximum(here, minimum(here, values, limit), -limit);
                     });
}

std::vector<VariableGradient> clip_by_norm(const Scope& scope, std::vector<VariableGradient> gradients,
                                           double norm) {
  if (!is_limited("clip_by_norm", norm)) return gradients;
  const Scope inner = scope.with_prefix("clip");
  return transformed(inner, with_distinct_rows(inner, std::move(gradients)),
                     [&](const Scope& here, Output values, const VariableGradient&) {
                       const Output length =
                           sqrt(here, sum(here, square(here, values), all_axes(here, values)));
                       return div(here, mul(here, values, norm), maximum(here, length, norm));
                     });
}

Output global_norm(const Scope& scope, const std::vector<VariableGradient>& gradients,
                   const ScopeOfGradient& at) {
  return norm_of(scope, with_distinct_rows(scope, gradients, at), at);
}

std::vector<VariableGradient> clip_by_global_norm(const Scope& scope, std::vector<VariableGradient> gradients,
                                                  double norm, const ScopeOfGradient& at) {
  if (!is_limited("clip_by_global_norm", norm)) return gradients;
  const Scope inner = scope.with_prefix("clip");
  gradients = with_distinct_rows(inner, std::move(gradients), at);
  const Output length = norm_of(inner, gradients, at);
  const Output smaller = minimum(inner, reciprocal(inner, length), 1 / norm);
  // x - x is 0 if x is finite and NaN otherwise.
  const Output scale = add(inner, mul(inner, smaller, norm), sub(inner, length, length));
  return transformed(
      inner, std::move(gradients),
      [&](const Scope& here, Output values, const VariableGradient&) { return mul(here, values, scale); },
      at);
}

std::vector<VariableGradient> add_weight_decay(const Scope& scope, std::vector<VariableGradient> gradients,
                                               double rate) {
  if (!std::isfinite(rate) || rate < 0)
    throw Error(invalid_argument("add_weight_decay: the rate is " + std::to_string(rate) +
                                 "; it must be a finite number of at least 0"));
  return transformed(scope.with_prefix("decay"), std::move(gradients),
                     [&](const Scope& here, Output values, const VariableGradient& each) {
                       const auto* const rows = std::get_if<IndexedSlices>(&each.gradient);
                       const Output weights =
                           rows ? gather(here, each.variable, rows->indices) : each.variable;
                       return add(here, values, mul(here, weights, rate));
                     });
}

IndexedSlices distinct_rows(const Scope& scope, const IndexedSlices& rows) {
  if (is_distinct(scope.graph(), scope.checked(rows.indices))) return rows;
  const auto distinct =
      scope.outputs(unique(scope, rows.indices));  // the indices, and for each row its place there
  const Output sums = unsorted_segment_sum(scope, rows.values, distinct[1], size(scope, distinct[0]));
  return {sums, distinct[0], rows.dense_shape};
}

std::vector<VariableGradient> all_dense(const Scope& scope, std::vector<VariableGradient> gradients) {
  for (VariableGradient& each : gradients) each.gradient = dense(scope, each.gradient, each.variable);
  return gradients;
}

Output values_of(const Gradient& gradient) {
  const auto* const rows = std::get_if<IndexedSlices>(&gradient);
  return rows ? rows->values : std::get<Output>(gradient);
}

Gradient with_values(const Gradient& gradient, Output values) {
  const auto* const rows = std::get_if<IndexedSlices>(&gradient);
  if (rows) return IndexedSlices{values, rows->indices, rows->dense_shape};
  return values;
}

}  // namespace troupe::nn
