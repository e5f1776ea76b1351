#include <algorithm>

#include "graph/build/backpropagation.h"
#include "graph/build/loop_gradient.h"

namespace troupe {
namespace {

/// Returns the zeros from which the gradients of an invariant are summed. That of a handle is the gradient of its variable's value.
Output zeros_for(const Scope& scope, Output invariant) {
  const Graph& graph = scope.graph();
  if (graph.dtype(invariant) != DType::Resource) return scope.add_one("ZerosLike", {invariant});
  const Node* maker = &graph.node(invariant.node);
  while (!maker->inputs.empty()) maker = &graph.node(maker->inputs[0].node);
  const AttrValue* const dtype = maker->attrs.find("dtype");
  if (!dtype)
    throw Error(unimplemented("the gradient of a loop by a handle that is not that of a variable")
                    .at_node(maker->type(), maker->name));
  const Output value = scope.add_one("ReadVariableOp", {invariant}, {{"dtype", std::get<DType>(*dtype)}});
  return scope.add_one("ZerosLike", {value});
}

/// Returns the sum and the gradient of this iteration, if there is one.
Output sum_with(const Scope& scope, Output sum, const Gradient& gradient, Output x) {
  return present(gradient) ? scope.add_one("AddN", {sum, dense(scope, gradient, x)}) : sum;
}

}  // namespace

void Backpropagation::differentiate(const Loop& loop) {
  const LoopPaths paths = paths_through(loop);
  if (paths.variables.empty()) return;
  const Scope here = devices_ == GradientDevices::OfNodes ? scope_for(loop.condition) : scope_;
  const Scope outside = here.with_prefix(folder_of(graph_, loop));
  BackwardLoop backward(outside, loops_, loop);
  const Scope& inside = backward.inside();
  std::vector<LoopWriter::Variable> gradients, sums;
  for (const LoopVariable* const variable : paths.variables)
    gradients.push_back(
        backward.begin(gradient_after(outside, *variable), graph_.shape({variable->merge, 0})));
  for (const NodeId invariant : paths.invariants) {
    const Output zeros = zeros_for(outside, entering(invariant));
    sums.push_back(backward.begin(zeros, graph_.shape(zeros)));
  }
  Backpropagation body(inside, loops_, count_, paths.ys, paths.xs, devices_);
  for (size_t i = 0; i < gradients.size(); ++i) body.seed(paths.ys[i], gradients[i].body);
  body.run();
  for (size_t i = 0; i < gradients.size(); ++i)
    backward.close(gradients[i], dense(inside, body.of(paths.xs[i]), paths.xs[i]));
  for (size_t i = 0; i < sums.size(); ++i) {
    const Output x = paths.xs[gradients.size() + i];
    backward.close(sums[i], sum_with(inside, sums[i].body, body.of(x), x));
  }
  for (size_t i = 0; i < gradients.size(); ++i)
    contribute(entering(paths.variables[i]->enter), gradients[i].exit);
  for (size_t i = 0; i < sums.size(); ++i) contribute(entering(paths.invariants[i]), sums[i].exit);
}

/// Returns the variables with a gradient after the loop, those on which they depend, and so on; but only those that depend on xs.
Backpropagation::LoopPaths Backpropagation::paths_through(const Loop& loop) const {
  std::vector<bool> wanted, active;
  for (const LoopVariable& variable : loop.variables) {
    wanted.push_back(has_gradient_after(variable));
    active.push_back(depends_on_xs(variable.enter));
  }
  LoopPaths paths;
  for (const NodeId invariant : loop.invariants)
    if (depends_on_xs(invariant)) paths.invariants.push_back(invariant);
  for (bool grows = true; grows;) grows = extend(loop, paths.invariants, active);
  for (bool grows = true; grows;) grows = extend_backward(loop, active, wanted);
  for (size_t i = 0; i < loop.variables.size(); ++i) {
    if (!active[i] || !wanted[i]) continue;
    paths.variables.push_back(&loop.variables[i]);
    paths.ys.push_back(next_value(loop.variables[i]));
    paths.xs.push_back({loop.variables[i].merge, 0});
  }
  for (const NodeId invariant : paths.invariants) paths.xs.push_back({invariant, 0});
  return paths;
}

/// Marks the variables whose next value depends on an active one or on an invariant. Returns whether there were any.
bool Backpropagation::extend(const Loop& loop, const std::vector<NodeId>& invariants,
                             std::vector<bool>& active) const {
  std::vector<Output> xs;
  for (const NodeId invariant : invariants) xs.push_back({invariant, 0});
  for (size_t i = 0; i < active.size(); ++i)
    if (active[i]) xs.push_back({loop.variables[i].merge, 0});
  const std::vector<bool> reached = reached_from(xs);
  bool grows = false;
  for (size_t i = 0; i < active.size(); ++i) {
    const Output next = next_value(loop.variables[i]);
    if (active[i] || !reached[next.node] || !carries_gradient(next)) continue;
    grows = active[i] = true;
  }
  return grows;
}

/// Marks the active variables on which the next value of a wanted one depends. Returns whether there were any.
bool Backpropagation::extend_backward(const Loop& loop, const std::vector<bool>& active,
                                      std::vector<bool>& wanted) const {
  std::vector<Output> ys, xs;
  for (size_t i = 0; i < active.size(); ++i) {
    if (active[i] && wanted[i]) ys.push_back(next_value(loop.variables[i]));
    if (active[i]) xs.push_back({loop.variables[i].merge, 0});
  }
  const Backpropagation body(scope_, loops_, count_, ys, xs);
  bool grows = false;
  for (size_t i = 0; i < active.size(); ++i) {
    if (!active[i] || wanted[i] || !body.between_[loop.variables[i].merge]) continue;
    grows = wanted[i] = true;
  }
  return grows;
}

bool Backpropagation::has_gradient_after(const LoopVariable& variable) const {
  return std::ranges::any_of(variable.exits, [&](NodeId exit) { return !contributions_[exit].empty(); });
}

bool Backpropagation::depends_on_xs(NodeId enter) const {
  const Output source = entering(enter);
  return carries_gradient(source) && between_[source.node];
}

/// Returns the gradient of a variable after the loop, in dense form.
Output Backpropagation::gradient_after(const Scope& scope, const LoopVariable& variable) {
  if (variable.exits.empty())
    throw Error(unimplemented("the gradient of a loop variable without an Exit")
                    .at_node("Merge", graph_.node(variable.merge).name));
  std::vector<Gradient> parts;
  for (const NodeId exit : variable.exits)
    if (const Gradient part = aggregated({exit, 0}); present(part)) parts.push_back(part);
  const Output exit{variable.exits[0], 0};
  return dense(scope, aggregate(scope, parts, exit), exit);
}

}  // namespace troupe
