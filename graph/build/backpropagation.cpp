#include "graph/build/backpropagation.h"

#include <algorithm>

#include "graph/build/custom_gradients.h"
#include "graph/build/gradient_attrs.h"

namespace troupe {
namespace {

Output concatenated_rows(const Scope& scope, std::vector<Output> parts) {
  parts.push_back(scope.constant(Tensor::scalar<int32_t>(0)));
  return scope.add_one("ConcatV2", std::move(parts));
}

}  // namespace

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

Backpropagation::Backpropagation(const Scope& scope, Loops& loops, size_t count, std::span<const Output> ys,
                                 std::span<const Output> xs, GradientDevices devices)
    : scope_(scope), graph_(scope.graph()), loops_(loops), count_(count), devices_(devices),
      between_(count, false), waiting_for_(count, 0), contributions_(count), recomputation_(scope_, loops) {
  mark_between(ys, xs);
}

void Backpropagation::run() {
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

// ---- the paths

/// Returns true if a gradient may flow along an edge of this dtype. Through a handle it flows to the variable's value, and through
/// a variant to the tensors of a list.
bool Backpropagation::carries_gradient(Output output) const {
  const DType dtype = graph_.dtype(output);
  return is_differentiable(dtype) || dtype == DType::Resource || dtype == DType::Variant;
}

bool Backpropagation::is_barrier(NodeId id) const {
  return graph_.node(id).op->not_differentiable && !loops_.loop_of_condition(id);
}

/// Calls `visit` for the source of each edge into `id` along which a gradient may flow.
template <class Visit>
void Backpropagation::each_input(NodeId id, Visit visit) const {
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
void Backpropagation::each_ordinary_input(NodeId id, Visit visit) const {
  for (const Output& input : graph_.node(id).inputs)
    if (carries_gradient(input)) visit(input.node);
}

/// Returns which nodes depend on `xs`.
std::vector<bool> Backpropagation::reached_from(std::span<const Output> xs) const {
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
void Backpropagation::mark_between(std::span<const Output> ys, std::span<const Output> xs) {
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

// ---- the gradients

Scope Backpropagation::scope_for(NodeId id) const {
  const Node& node = graph_.node(id);
  const AttrValue* const attr = node.attrs.find(own_gradient_device_attr);
  const bool* const own = attr ? std::get_if<bool>(attr) : nullptr;
  const bool on_own = devices_ == GradientDevices::OfNodes || (own && *own);
  return on_own && !node.device.empty() ? scope_.with_device(node.device) : scope_;
}

/// Returns the scope for the sum of the gradients of an output. Those of a variable are summed where they are computed, which
/// may be on another device than that of the variable.
Scope Backpropagation::scope_of_sum(Output output, const std::vector<Gradient>& parts) const {
  if (devices_ == GradientDevices::OfScope || !graph_.type(output).is_ref || parts.empty())
    return scope_for(output.node);
  const auto* const rows = std::get_if<IndexedSlices>(&parts.front());
  const Output first = rows ? rows->values : std::get<Output>(parts.front());
  const std::string& device = graph_.node(first.node).device;
  return device.empty() ? scope_ : scope_.with_device(device);
}

void Backpropagation::contribute(Output output, const Gradient& gradient) {
  auto& per_output = contributions_[output.node];
  per_output.resize(graph_.node(output.node).output_types.size());
  per_output[output.index].push_back(gradient);
}

Gradient Backpropagation::aggregated(Output output) {
  auto& per_output = contributions_[output.node];
  if (per_output.empty()) return {};
  auto& parts = per_output[output.index];
  Gradient gradient = aggregate(scope_of_sum(output, parts), parts, output);
  if (parts.size() > 1) parts = {gradient};
  return gradient;
}

void Backpropagation::differentiate(NodeId id) {
  if (contributions_[id].empty() || graph_.node(id).op->not_differentiable) return;
  std::vector<Gradient> output_gradients;
  for (uint32_t i = 0; i < graph_.node(id).output_types.size(); ++i)
    output_gradients.push_back(aggregated({id, i}));
  const Node& node = graph_.node(id);
  bool leads_on = false;
  each_input(id, [&](NodeId source) { leads_on = leads_on || between_[source]; });
  if (!leads_on || loops_.loop_left_by(id)) return;
  if (flow_kind(node) == FlowKind::Switch && loops_.steers(id)) {
    if (present(output_gradients[1])) contribute(node.inputs[0], output_gradients[1]);
    return;
  }
  const bool is_custom = has_custom_gradient(node);
  if (!node.op->gradient && !is_custom)
    throw Error(unimplemented("the op has no gradient function, but a gradient must flow through it")
                    .at_node(node.type(), node.name));
  const auto compute_input_gradients = is_custom ? build_custom_gradient : node.op->gradient;
  const Scope inner = scope_for(id).with_prefix(node.name);
  const auto source = recomputation_.source(id, output_gradients);
  GradientContext context(inner, source.inputs, source.outputs, std::move(output_gradients));
  compute_input_gradients(context);
  auto input_gradients = std::move(context).take();
  for (size_t i = 0; i < input_gradients.size(); ++i) {
    const Output input = graph_.node(id).inputs[i];
    if (!present(input_gradients[i]) || !between_[input.node] || !carries_gradient(input)) continue;
    check_dtype(id, i, input_gradients[i]);
    contribute(input, input_gradients[i]);
  }
}

/// Throws InvalidArgument if what a gradient function returned does not have the dtype of the input. The gradient of a handle has
/// that of what it stands for.
void Backpropagation::check_dtype(NodeId id, size_t input, const Gradient& gradient) const {
  const Node& node = graph_.node(id);
  const DType expected = graph_.dtype(node.inputs[input]);
  const auto given = dtype_of_gradient(scope_, gradient);
  if (!is_differentiable(expected) || *given == expected) return;
  throw Error(invalid_argument("the gradient function returned " + std::string(name(*given)) +
                               " as the gradient of input " + std::to_string(input) + ", which is " +
                               std::string(name(expected)))
                  .at_node(node.type(), node.name));
}

}  // namespace troupe
