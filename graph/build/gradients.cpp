#include "graph/build/gradients.h"

#include <algorithm>
#include <optional>

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

/// The backward pass over the nodes on paths from xs to ys.
class Backpropagation {
 public:
  Backpropagation(const Scope& scope, std::span<const Output> ys, std::span<const Output> xs)
      : scope_(scope.with_prefix("gradients")), graph_(scope.graph()), count_(graph_.size()),
        between_(count_, false), waiting_for_(count_, 0), contributions_(count_), recomputation_(scope_) {
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
      differentiate(id);
      if (graph_.node(id).op->not_differentiable) continue;
      each_input(id, [&](NodeId source) {
        if (between_[source] && !closes_loop(source, id) && --waiting_for_[source] == 0)
          ready.push_back(source);
      });
    }
  }

  Gradient of(Output x) { return between_[x.node] ? aggregated(x) : Gradient{}; }

 private:
  /// Returns true if a gradient may flow along an edge of this dtype. Through a handle
  /// it flows to the variable's value, and through a variant to the tensors of a list.
  static bool carries_gradient(DType dtype) {
    return is_differentiable(dtype) || dtype == DType::Resource || dtype == DType::Variant;
  }

  /// Calls `visit` for the source of each edge into `id` along which a gradient may flow.
  template <class Visit>
  void each_input(NodeId id, Visit visit) const {
    for (const Output& input : graph_.node(id).inputs)
      if (carries_gradient(graph_.dtype(input))) visit(input.node);
  }

  /// Returns which nodes depend on `xs`, also by back edges of loops.
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

  /// Marks the nodes through which a gradient of `ys` can flow to `xs`. Back edges count here, so that no loop is
  /// missed. But no node waits for its back edges, because nodes that wait for each other would never be differentiated.
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
      if (graph_.node(id).op->not_differentiable) continue;
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
    if (!leads_on) return;
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

  Scope scope_;
  Graph& graph_;
  size_t count_;  ///< the number of nodes of the forward graph; nodes added by this class have higher ids
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
  Backpropagation backward(scope, ys, xs);
  for (size_t i = 0; i < ys.size(); ++i) {
    const bool given = i < grad_ys.size() && present(grad_ys[i]);
    backward.seed(ys[i],
                  given ? grad_ys[i] : Gradient(scope.with_prefix("gradients").add_one("OnesLike", {ys[i]})));
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
