#include "graph/build/gradients.h"

#include <algorithm>
#include <optional>

#include "graph/build/loop_gradient.h"
#include "graph/build/recomputation.h"

namespace troupe {
namespace {

bool present(const Gradient& gradient) { return !std::holds_alternative<std::monostate>(gradient); }

Output first_dim(const Scope& scope, Output dense_shape, Output x) {
  const PartialShape& shape = scope.shape(x);
  if (shape.known_rank() && shape.rank() > 0 && shape[0] != unknown_dim)
    return scope.constant(Tensor::scalar<int32_t>(static_cast<int32_t>(shape[0])));
  const Output first = scope.add_one("Slice", {dense_shape, scope.constant(Tensor::vector<int32_t>({0})),
                                               scope.constant(Tensor::vector<int32_t>({1}))});
  return scope.add_one("Reshape", {first, scope.constant(Tensor::vector<int32_t>({}))});
}

Output concatenated_rows(const Scope& scope, std::vector<Output> parts) {
  parts.push_back(scope.constant(Tensor::scalar<int32_t>(0)));
  return scope.add_one("ConcatV2", std::move(parts));
}

/// Combines the contributions to one gradient, in the order in which they were added.
Gradient aggregate(const Scope& scope, const std::vector<Gradient>& parts, Output forward) {
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts.front();
  const bool all_sparse = std::all_of(parts.begin(), parts.end(), [](const Gradient& part) {
    return std::holds_alternative<IndexedSlices>(part);
  });
  if (all_sparse) {
    std::vector<Output> values, indices;
    for (const auto& part : parts) {
      values.push_back(std::get<IndexedSlices>(part).values);
      indices.push_back(std::get<IndexedSlices>(part).indices);
    }
    return IndexedSlices{concatenated_rows(scope, values), concatenated_rows(scope, indices),
                         std::get<IndexedSlices>(parts.front()).dense_shape};
  }
  std::vector<Output> terms;
  for (const auto& part : parts) terms.push_back(dense(scope, part, forward));
  return scope.add_one("AddN", std::move(terms));
}

std::string parent_folder(const std::string& name) {
  const size_t end = name.rfind('/');
  return end == std::string::npos ? name : name.substr(0, end);
}

/// The backward pass over the nodes on paths from xs to ys, which are in one frame. It takes a loop in that frame for one node, its
/// LoopCond, which the Exits depend on and which depends on what the Enters read.
class Backpropagation {
 public:
  /// The nodes that the pass adds go to `scope`. `count` is the number of nodes of the forward graph.
  Backpropagation(const Scope& scope, Loops& loops, size_t count, std::span<const Output> ys,
                  std::span<const Output> xs)
      : scope_(scope), graph_(scope.graph()), loops_(loops), count_(count), between_(count_, false),
        waiting_for_(count_, 0), contributions_(count_), recomputation_(scope_) {
    mark_between(ys, xs);
  }

  void seed(Output y, const Gradient& gradient) {
    if (between_[y.node]) contribute(y, gradient);
  }

  void run() {
    std::vector<NodeId> ready;
    for (NodeId id = 0; id < count_; ++id)
      if (between_[id] && waiting_for_[id] == 0) ready.push_back(id);
    while (!ready.empty()) {
      const NodeId id = ready.back();
      ready.pop_back();
      if (const Loop* const loop = loops_.loop_of_condition(id))
        differentiate(*loop);
      else
        differentiate(id);
      if (is_barrier(id)) continue;
      each_input(id, [&](NodeId source) {
        if (between_[source] && !closes_loop(source, id) && --waiting_for_[source] == 0)
          ready.push_back(source);
      });
    }
  }

  Gradient of(Output x) { return between_[x.node] ? aggregated(x) : Gradient{}; }
  bool reaches(Output x) const { return between_[x.node]; }

 private:
  /// Returns true if a gradient may flow along an edge of this dtype. Through a handle
  /// it flows to the variable's value, and through a variant to the tensors of a list.
  static bool carries_gradient(DType dtype) {
    return is_differentiable(dtype) || dtype == DType::Resource || dtype == DType::Variant;
  }

  bool is_barrier(NodeId id) const {
    return graph_.node(id).op->not_differentiable && !loops_.loop_of_condition(id);
  }

  /// Calls `visit` for the source of each edge into `id` along which a gradient may flow.
  template <class Visit>
  void each_input(NodeId id, Visit visit) const {
    if (const Loop* const left = loops_.loop_left_by(id)) return visit(left->condition);
    if (const Loop* const loop = loops_.loop_of_condition(id)) {
      for (const LoopVariable& variable : loop->variables) each_ordinary_input(variable.enter, visit);
      for (const NodeId invariant : loop->invariants) each_ordinary_input(invariant, visit);
      return;
    }
    const bool begins_iteration = flow_kind(graph_.node(id)) == FlowKind::Merge && loops_.steers(id);
    if (!begins_iteration) each_ordinary_input(id, visit);
  }
  template <class Visit>
  void each_ordinary_input(NodeId id, Visit visit) const {
    for (const Output& input : graph_.node(id).inputs)
      if (carries_gradient(graph_.dtype(input))) visit(input.node);
  }

  /// Returns which nodes depend on `xs`.
  std::vector<bool> reached_from(std::span<const Output> xs) const {
    std::vector<std::vector<NodeId>> consumers(count_);
    for (NodeId id = 0; id < count_; ++id)
      each_input(id, [&](NodeId source) { consumers[source].push_back(id); });
    std::vector<bool> reached(count_, false);
    std::vector<NodeId> waiting;
    const auto reach = [&](NodeId id) {
      if (!reached[id]) waiting.push_back(id);
      reached[id] = true;
    };
    for (const Output& x : xs) reach(x.node);
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      for (const NodeId consumer : consumers[id]) reach(consumer);
    }
    return reached;
  }

  /// Marks the nodes through which a gradient of `ys` can flow to `xs`. Back edges of loops in a form that has no gradient count
  /// here, so that no such loop is missed. But no node waits for its back edges, because nodes that wait for each other would never
  /// be differentiated.
  void mark_between(std::span<const Output> ys, std::span<const Output> xs) {
    const std::vector<bool> from_xs = reached_from(xs);
    std::vector<NodeId> waiting;
    const auto mark = [&](NodeId id) {
      if (from_xs[id] && !between_[id]) waiting.push_back(id);
      between_[id] = between_[id] || from_xs[id];
    };
    for (const Output& y : ys) mark(y.node);
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      if (is_barrier(id)) continue;
      each_input(id, [&](NodeId source) {
        mark(source);
        if (from_xs[source] && !closes_loop(source, id)) ++waiting_for_[source];
      });
    }
  }
  bool closes_loop(NodeId from, NodeId to) const { return is_back_edge(graph_.node(from), graph_.node(to)); }

  void contribute(Output output, const Gradient& gradient) {
    auto& per_output = contributions_[output.node];
    per_output.resize(graph_.node(output.node).output_types.size());
    per_output[output.index].push_back(gradient);
  }

  Gradient aggregated(Output output) {
    auto& per_output = contributions_[output.node];
    if (per_output.empty()) return {};
    auto& parts = per_output[output.index];
    Gradient gradient = aggregate(scope_, parts, output);
    if (parts.size() > 1) parts = {gradient};
    return gradient;
  }

  void differentiate(NodeId id) {
    if (contributions_[id].empty() || graph_.node(id).op->not_differentiable) return;
    std::vector<Gradient> output_gradients;
    for (uint32_t i = 0; i < graph_.node(id).output_types.size(); ++i)
      output_gradients.push_back(aggregated({id, i}));
    const Node& node = graph_.node(id);
    bool leads_on = false;
    each_input(id, [&](NodeId source) { leads_on = leads_on || between_[source]; });
    if (!leads_on || loops_.loop_left_by(id)) return;
    if (flow_kind(node) == FlowKind::Switch && loops_.steers(id))
      return contribute(node.inputs[0], output_gradients[1]);
    if (!node.op->gradient)
      throw Error(unimplemented("the op has no gradient function, but a gradient must flow through it")
                      .at_node(node.type(), node.name));
    const auto compute_input_gradients = node.op->gradient;
    const Scope inner = scope_.with_prefix(node.name);
    const auto source = recomputation_.source(id, output_gradients);
    GradientContext context(inner, source.inputs, source.outputs, std::move(output_gradients));
    compute_input_gradients(context);
    auto input_gradients = std::move(context).take();
    for (size_t i = 0; i < input_gradients.size(); ++i) {
      const Output input = graph_.node(id).inputs[i];
      if (present(input_gradients[i]) && between_[input.node] && carries_gradient(graph_.dtype(input)))
        contribute(input, input_gradients[i]);
    }
  }

  // ---- loops

  /// The values that carry a gradient through a loop.
  struct LoopPaths {
    std::vector<const LoopVariable*> variables;
    std::vector<NodeId> invariants;
    std::vector<Output> ys,
        xs;  ///< what the body makes of the variables; the variables and invariants themselves
  };

  bool has_gradient_at_exit(const LoopVariable& variable) const {
    return std::ranges::any_of(variable.exits, [&](NodeId exit) { return !contributions_[exit].empty(); });
  }
  bool depends_on_xs(NodeId enter) const {
    const Output source = graph_.node(enter).inputs[0];
    return carries_gradient(graph_.dtype(source)) && between_[source.node];
  }
  Output next_value(const LoopVariable& variable) const { return graph_.node(variable.next).inputs[0]; }

  /// Returns the variables with a gradient after the loop, those on which they depend, and so on; but only those that depend on xs.
  LoopPaths paths_through(const Loop& loop) const {
    std::vector<bool> wanted, active;
    for (const LoopVariable& variable : loop.variables) {
      wanted.push_back(has_gradient_at_exit(variable));
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
  bool extend(const Loop& loop, const std::vector<NodeId>& invariants, std::vector<bool>& active) const {
    std::vector<Output> xs;
    for (const NodeId invariant : invariants) xs.push_back({invariant, 0});
    for (size_t i = 0; i < active.size(); ++i)
      if (active[i]) xs.push_back({loop.variables[i].merge, 0});
    const std::vector<bool> reached = reached_from(xs);
    bool grows = false;
    for (size_t i = 0; i < active.size(); ++i) {
      const Output next = next_value(loop.variables[i]);
      if (active[i] || !reached[next.node] || !carries_gradient(graph_.dtype(next))) continue;
      grows = active[i] = true;
    }
    return grows;
  }
  /// Marks the active variables on which the next value of a wanted one depends. Returns whether there were any.
  bool extend_backward(const Loop& loop, const std::vector<bool>& active, std::vector<bool>& wanted) const {
    std::vector<Output> ys, xs;
    for (size_t i = 0; i < active.size(); ++i) {
      if (active[i] && wanted[i]) ys.push_back(next_value(loop.variables[i]));
      if (active[i]) xs.push_back({loop.variables[i].merge, 0});
    }
    const Backpropagation body(scope_, loops_, count_, ys, xs);
    bool grows = false;
    for (size_t i = 0; i < active.size(); ++i) {
      if (!active[i] || wanted[i] || !body.reaches({loop.variables[i].merge, 0})) continue;
      grows = wanted[i] = true;
    }
    return grows;
  }

  /// Returns the gradient of a variable after the loop, in dense form.
  Output gradient_after(const Scope& scope, const LoopVariable& variable) {
    if (variable.exits.empty())
      throw Error(unimplemented("the gradient of a loop variable without an Exit")
                      .at_node("Merge", graph_.node(variable.merge).name));
    std::vector<Gradient> parts;
    for (const NodeId exit : variable.exits)
      if (Gradient part = aggregated({exit, 0}); present(part)) parts.push_back(std::move(part));
    const Output exit{variable.exits[0], 0};
    return dense(scope, aggregate(scope, parts, exit), exit);
  }

  void differentiate(const Loop& loop) {
    const LoopPaths paths = paths_through(loop);
    if (paths.variables.empty()) return;
    const Scope outside = scope_.with_prefix(parent_folder(graph_.node(loop.condition).name));
    BackwardLoop backward(outside, loops_, loop);
    const Scope& inside = backward.inside();
    std::vector<LoopWriter::Variable> gradients, sums;
    for (const LoopVariable* const variable : paths.variables)
      gradients.push_back(backward.begin(gradient_after(outside, *variable), shape_in_loop(variable->merge)));
    for (const NodeId invariant : paths.invariants) {
      const Output source = graph_.node(invariant).inputs[0];
      sums.push_back(backward.begin(outside.add_one("ZerosLike", {source}), graph_.shape(source)));
    }
    Backpropagation body(inside, loops_, count_, paths.ys, paths.xs);
    for (size_t i = 0; i < gradients.size(); ++i) body.seed(paths.ys[i], gradients[i].body);
    body.run();
    for (size_t i = 0; i < gradients.size(); ++i)
      backward.close(gradients[i], dense(inside, body.of(paths.xs[i]), paths.xs[i]));
    for (size_t i = 0; i < sums.size(); ++i)
      backward.close(sums[i], sum_with(inside, sums[i].body, body.of({paths.invariants[i], 0}),
                                       {paths.invariants[i], 0}));
    for (size_t i = 0; i < gradients.size(); ++i)
      contribute(graph_.node(paths.variables[i]->enter).inputs[0], gradients[i].exit);
    for (size_t i = 0; i < sums.size(); ++i)
      contribute(graph_.node(paths.invariants[i]).inputs[0], sums[i].exit);
  }
  /// A list is a scalar; the shape of a handle is not that of the flow of its gradient.
  PartialShape shape_in_loop(NodeId merge) const { return graph_.shape({merge, 0}); }
  static Output sum_with(const Scope& scope, Output sum, const Gradient& gradient, Output x) {
    if (!present(gradient)) return sum;
    return scope.add_one("AddN", {sum, dense(scope, gradient, x)});
  }

  Scope scope_;
  Graph& graph_;
  Loops& loops_;
  size_t count_;
  std::vector<bool> between_;
  /// Per node: edges to consumers not yet differentiated, without back edges.
  std::vector<uint32_t> waiting_for_;
  std::vector<std::vector<std::vector<Gradient>>> contributions_;  ///< per node and output
  Recomputation recomputation_;
};

}  // namespace

GradientContext::GradientContext(Scope scope, NodeId node, NodeId outputs,
                                 std::vector<Gradient> output_gradients)
    : scope_(std::move(scope)), node_(node), outputs_(outputs),
      output_gradients_(std::move(output_gradients)), input_gradients_(this->node().inputs.size()) {}

bool GradientContext::has_gradient(size_t output) const { return present(output_gradients_[output]); }

Output GradientContext::gradient(size_t index) const {
  if (!has_gradient(index)) return scope_.add_one("ZerosLike", {output(index)});
  return dense(scope_, output_gradients_[index], output(index));
}

void GradientContext::set(size_t input, Output gradient) { input_gradients_[input] = gradient; }
void GradientContext::set(size_t input, const IndexedSlices& gradient) { input_gradients_[input] = gradient; }
std::vector<Gradient> GradientContext::take() && { return std::move(input_gradients_); }

std::vector<Gradient> gradients(const Scope& scope, const std::vector<Output>& ys,
                                const std::vector<Output>& xs, const std::vector<Gradient>& grad_ys) {
  Graph& graph = scope.graph();
  for (const Output& y : ys)
    if (!is_differentiable(scope.dtype(y))) {
      const Node& node = graph.node(y.node);
      throw Error(invalid_argument(graph.name_of(y) + " has dtype " + std::string(name(graph.dtype(y))) +
                                   ", which has no gradient; half, float, double and complex types have one")
                      .at_node(node.type(), node.name));
    }
  for (const Output& x : xs) scope.checked(x);
  const Scope inner = scope.with_prefix("gradients");
  Loops loops(graph);
  Backpropagation backward(inner, loops, graph.size(), ys, xs);
  for (size_t i = 0; i < ys.size(); ++i) {
    const bool given = i < grad_ys.size() && present(grad_ys[i]);
    backward.seed(ys[i], given ? grad_ys[i] : Gradient(inner.add_one("OnesLike", {ys[i]})));
  }
  backward.run();
  std::vector<Gradient> result;
  for (const Output& x : xs) result.push_back(backward.of(x));
  return result;
}

Output dense(const Scope& scope, const Gradient& gradient, Output x) {
  if (const auto* output = std::get_if<Output>(&gradient)) return *output;
  if (const auto* slices = std::get_if<IndexedSlices>(&gradient)) {
    const Output rows = first_dim(scope, slices->dense_shape, x);
    return scope.add_one("UnsortedSegmentSum", {slices->values, slices->indices, rows});
  }
  return scope.add_one("ZerosLike", {x});
}

}  // namespace troupe
