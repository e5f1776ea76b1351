#include "graph/passes/simplify/simplify.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "graph/build/frames.h"
#include "graph/passes/liveness.h"
#include "graph/passes/simplify/common_subexpressions.h"
#include "graph/passes/simplify/simplify_rules.h"
#include "graph/passes/simplify/symbolic_shapes.h"

namespace troupe {
namespace {

/// Sorts the ids and removes duplicates.
void normalise(std::vector<NodeId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

/// One sweep over all nodes, inputs before their consumers, so that every rule sees simplified inputs.
class Round {
 public:
  Round(GraphDraft& draft, std::vector<NodeId>& origin, std::vector<NodeId>& roots, const Graph& empty,
        const SimplifyOptions& options, SimplifyReport& report)
      : draft_(draft), origin_(origin), roots_(roots), empty_(empty), options_(options), report_(report),
        common_(draft), replacement_(draft.nodes.size()), used_(draft.nodes.size(), false),
        pinned_(draft.nodes.size(), false), signals_(draft.nodes.size(), false),
        conditional_(draft.nodes.size(), false), names_(draft) {}

  /// Returns true if anything changed.
  Result<bool> run() {
    const SimplifyReport before = report_;
    TROUPE_ASSIGN(order_, topological_order(draft_.nodes));
    collect_uses();
    for (const NodeId id : order_) visit(id);
    for (Node& node : draft_.nodes)  // for back edges, whose sources were simplified after the Merge
      if (flow_kind(node) == FlowKind::Merge) resolve_inputs(node);
    remove_unneeded();
    return report_.folded != before.folded || report_.bypassed != before.bypassed ||
           report_.merged != before.merged || report_.removed != before.removed;
  }

 private:
  /// What consumers use in place of a node: another node with the same outputs, one output, or one constant per output.
  struct Replacement {
    enum class Kind : uint8_t { None, Node, Output, Constants } kind = Kind::None;
    Output target;
  };

  void collect_uses() {
    for (const NodeId root : roots_) pinned_[root] = true;
    std::unordered_set<std::string_view> names;
    for (const Node& node : draft_.nodes) {
      for (const std::string& name : node.colocate_with) names.insert(name);
      for (const NodeId control : node.control_inputs) signals_[control] = true;
      for (const Output& input : node.inputs) used_[input.node] = true;
    }
    for (const Node& node : draft_.nodes)
      if (!names.empty() && names.contains(node.name)) pinned_[node.id] = true;
  }

  void visit(NodeId id) {
    Node& node = draft_.nodes[id];
    resolve_inputs(node);
    bypass_pure_controls(node);
    note_conditional(node);
    if (try_metadata(id) || try_fold(id) || try_gradient_args(id)) return merge(id);
    if (!try_bypass(id)) merge(id);
  }

  Output resolve(Output output) const {
    const Replacement& replacement = replacement_[output.node];
    switch (replacement.kind) {
      case Replacement::Kind::Node: return {replacement.target.node, output.index};
      case Replacement::Kind::Output: return replacement.target;
      case Replacement::Kind::Constants: return {replacement.target.node + output.index, 0};
      default: return output;
    }
  }
  NodeId resolve_control(NodeId node) const {
    return replacement_[node].kind == Replacement::Kind::None ? node : replacement_[node].target.node;
  }
  void resolve_inputs(Node& node) const {
    for (Output& input : node.inputs) input = resolve(input);
    bool changed = false;
    for (NodeId& control : node.control_inputs) {
      const NodeId now = resolve_control(control);
      changed = changed || now != control;
      control = now;
    }
    if (changed) normalise(node.control_inputs);
  }

  /// Waiting for a node without an effect whose outputs nobody uses is the same as waiting for its inputs and control inputs.
  void bypass_pure_controls(Node& node) {
    std::vector<NodeId> controls;
    for (const NodeId control : node.control_inputs) {
      if (!only_signals(control)) {
        controls.push_back(control);
        continue;
      }
      const Node& source = draft_.nodes[control];
      for (const Output& input : source.inputs) controls.push_back(input.node);
      controls.insert(controls.end(), source.control_inputs.begin(), source.control_inputs.end());
    }
    if (controls == node.control_inputs) return;
    normalise(controls);
    node.control_inputs = std::move(controls);
  }
  bool only_signals(NodeId id) const {
    const Node& node = draft_.nodes[id];
    return !used_[id] && !pinned_[id] && !conditional_[id] && node.op->effect == Effect::Pure &&
           node.op->served_by == ServedBy::Kernel && !node.output_types.empty();
  }

  /// A node is conditional if it may be dead, or may run more than once: if any control flow precedes it.
  void note_conditional(const Node& node) {
    const auto conditional = [&](NodeId before) { return conditional_[before]; };
    conditional_[node.id] = flow_kind(node) != FlowKind::None ||
                            std::any_of(node.inputs.begin(), node.inputs.end(),
                                        [&](Output input) { return conditional(input.node); }) ||
                            std::any_of(node.control_inputs.begin(), node.control_inputs.end(), conditional);
  }

  bool try_metadata(NodeId id) {
    Node& node = draft_.nodes[id];
    if (node.inputs.size() != 1 || draft_.type(node.inputs[0]).is_ref) return false;
    auto value = known_metadata(draft_, node);
    if (!value) return false;
    const Node& source = draft_.node(node.inputs[0].node);
    if (conditional_[source.id]) {
      // The end of a Switch does not say which of its outputs is dead.
      if (flow_kind(source) == FlowKind::Switch) return false;
      node.control_inputs.push_back(source.id);
    }
    become_constant(node, std::move(*value));
    ++report_.folded;
    return true;
  }

  bool try_fold(NodeId id) {
    auto values = folded(draft_, draft_.nodes[id], empty_, options_);
    if (!values) return false;
    for (const Output& input : draft_.nodes[id].inputs) {
      const auto& controls = draft_.node(input.node).control_inputs;
      auto& mine = draft_.nodes[id].control_inputs;
      mine.insert(mine.end(), controls.begin(), controls.end());
    }
    return become_values(id, std::move(*values));
  }

  /// Two operands of the same shape are not broadcast.
  bool try_gradient_args(NodeId id) {
    const Node& node = draft_.nodes[id];
    if (node.type() != "BroadcastGradientArgs") return false;
    if (!equal(unconditional_shape(node.inputs[0]), unconditional_shape(node.inputs[1]))) return false;
    const DType dtype = node.output_types[0].dtype;
    const Tensor none = dtype == DType::Int64 ? Tensor::vector<int64_t>({}) : Tensor::vector<int32_t>({});
    return become_values(id, {none, none});
  }
  const SymbolicShapes& shapes() {
    if (!shapes_) shapes_.emplace(draft_, order_);
    return *shapes_;
  }
  /// Returns the dimensions that an output spells out, if it is never dead.
  std::optional<SymbolicShapes::Dims> unconditional_shape(Output output) {
    return conditional_[output.node] ? std::nullopt : shapes().spelled_by(output);
  }

  /// Replaces a node by constants. Returns true if the node itself became one.
  bool become_values(NodeId id, std::vector<Tensor> values) {
    ++report_.folded;
    if (values.size() == 1) {
      become_constant(draft_.nodes[id], std::move(values.front()));
      return true;
    }
    if (pinned_[id]) return false;
    replacement_[id] = {Replacement::Kind::Constants, {static_cast<NodeId>(draft_.nodes.size()), 0}};
    for (size_t k = 0; k < values.size(); ++k) add_constant(id, k, std::move(values[k]));
    return true;
  }

  void become_constant(Node& node, Tensor value) {
    node.op = empty_.ops()->find("Const");
    node.inputs.clear();
    node.expects_ref.clear();
    normalise(node.control_inputs);
    node.output_types = {{value.dtype(), false}};
    node.output_shapes = {PartialShape(value.shape())};
    const DType dtype = value.dtype();
    node.attrs = {{"dtype", dtype}, {"value", std::move(value)}};
  }

  void add_constant(NodeId from, size_t output, Tensor value) {
    Node node = draft_.nodes[from];
    node.id = static_cast<NodeId>(draft_.nodes.size());
    node.name = names_.unique(node.name + '_' + std::to_string(output));
    become_constant(node, std::move(value));
    draft_.nodes.push_back(std::move(node));
    origin_.push_back(origin_[from]);
    replacement_.emplace_back();
    used_.push_back(used_[from]);
    pinned_.push_back(false);
    signals_.push_back(false);
    conditional_.push_back(conditional_[from]);
  }
  bool try_bypass(NodeId id) {
    const Node& node = draft_.nodes[id];
    if (pinned_[id] || !node.control_inputs.empty() || node.inputs.empty()) return false;
    const auto target = keeps_shape(node) ? node.inputs[0] : forwarded_output(draft_, node);
    if (!target || draft_.type(*target).is_ref) return false;
    const Node& source = draft_.node(target->node);
    const FlowKind kind = flow_kind(source);
    if (kind == FlowKind::NextIteration || (kind == FlowKind::Switch && signals_[id])) return false;
    if (!node.device.empty() && node.device != source.device) return false;
    if (!node.colocate_with.empty() && node.colocate_with != source.colocate_with) return false;
    replacement_[id] = {Replacement::Kind::Output, *target};
    signals_[target->node] = signals_[target->node] || signals_[id];
    ++report_.bypassed;
    return true;
  }

  /// Whether the node is a Reshape to the shape that its input has, or a sum along the dimensions in which two equal shapes differ.
  bool keeps_shape(const Node& node) {
    if (node.type() != "Reshape" && node.type() != "Sum") return false;
    if (!lives_with(node.inputs[0], node.inputs[1])) return false;
    if (node.type() == "Reshape")
      return equal(shapes().of(node.inputs[0]), shapes().spelled_by(node.inputs[1]));
    const Node& axes = draft_.node(node.inputs[1].node);
    return axes.type() == "BroadcastGradientArgs" &&
           equal(shapes().spelled_by(axes.inputs[0]), shapes().spelled_by(axes.inputs[1]));
  }
  static bool equal(const std::optional<SymbolicShapes::Dims>& a,
                    const std::optional<SymbolicShapes::Dims>& b) {
    return a && b && std::ranges::equal(*a, *b);
  }
  /// Whether `other` is alive whenever the output is.
  bool lives_with(Output output, Output other) {
    if (!conditional_[other.node]) return true;
    if (!liveness_) liveness_.emplace(draft_.nodes, order_);
    return liveness_->implies(output, other);
  }

  void merge(NodeId id) {
    if (replacement_[id].kind != Replacement::Kind::None) return;
    const NodeId same = common_.find_or_add(id);
    if (same == id || pinned_[id]) return;
    replacement_[id] = {Replacement::Kind::Node, {same, 0}};
    signals_[same] = signals_[same] || signals_[id];
    ++report_.merged;
  }

  /// Removes the nodes that no root, no guard and no node with an effect outside the step needs.
  void remove_unneeded() {
    std::vector<Node>& nodes = draft_.nodes;
    std::vector<bool> needed(nodes.size(), false);
    std::vector<NodeId> stack;
    const auto need = [&](NodeId id) {
      if (!needed[id]) stack.push_back(id);
      needed[id] = true;
    };
    for (const NodeId root : roots_) need(root);
    for (const Node& node : nodes)
      if (stays_unused(node.op->effect)) need(node.id);
    while (!stack.empty()) {
      const Node& node = nodes[stack.back()];
      stack.pop_back();
      for (const Output& input : node.inputs) need(input.node);
      for (const NodeId control : node.control_inputs) need(control);
    }
    compact(needed);
  }

  static bool stays_unused(Effect effect) {
    return effect == Effect::State || effect == Effect::Io || effect == Effect::Guard;
  }

  void compact(const std::vector<bool>& needed) {
    const size_t before = draft_.nodes.size();
    const std::vector<NodeId> new_id = draft_.keep(needed);
    report_.removed += before - draft_.nodes.size();
    for (NodeId id = 0; id < before; ++id)
      if (new_id[id] != no_node) origin_[new_id[id]] = origin_[id];
    origin_.resize(draft_.nodes.size());
    for (NodeId& root : roots_) root = new_id[root];
  }

  GraphDraft& draft_;
  std::vector<NodeId>&origin_, &roots_;
  const Graph& empty_;
  const SimplifyOptions& options_;
  SimplifyReport& report_;
  CommonSubexpressions common_;
  std::vector<Replacement> replacement_;  ///< for each node, as are the next four
  std::vector<bool> used_;                ///< its outputs are inputs of other nodes
  std::vector<bool> pinned_;              ///< it must not be replaced by another node
  std::vector<bool> signals_;             ///< other nodes have control edges from it
  std::vector<bool> conditional_;
  NodeNames names_;
  std::vector<NodeId> order_;
  std::optional<SymbolicShapes> shapes_;  ///< of the nodes of order_, once a rule has asked for them
  std::optional<Liveness> liveness_;      ///< the same
};

}  // namespace

Result<SimplifyReport> simplify(Subgraph& subgraph, const SimplifyOptions& options) {
  TROUPE_RETURN_IF_FAILED(topological_order(subgraph.graph).status());
  SimplifyReport report;
  Graph result = subgraph.graph.empty();
  GraphDraft draft{std::move(subgraph.graph).release()};
  for (bool changed = true; changed && report.rounds < options.rounds; ++report.rounds) {
    TROUPE_ASSIGN(changed, Round(draft, subgraph.origin, subgraph.roots, result, options, report).run());
  }
  subgraph.graph = std::move(draft).into(std::move(result));
  return report;
}

}  // namespace troupe
