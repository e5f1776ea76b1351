#include "graph/passes/fuse/fuse_updates.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "graph/build/frames.h"
#include "graph/passes/fuse/fuse_rules.h"

namespace troupe {
namespace {

constexpr int64_t most_elements = int64_t{1} << 18;
constexpr size_t most_updates = 64;

bool is_variable(const Node& node, size_t input) {
  return node.expects_ref[input] || node.op->inputs[input].type == DType::Resource;
}

/// Returns the attribute `method` of the fused node for an update: "Adam" for ApplyAdam, "AssignSub" for AssignSubVariableOp.
/// Empty for other nodes.
std::string_view method_of(const Node& node) {
  std::string_view type = node.type();
  for (const std::string_view name : {"AssignAdd", "AssignSub"})
    if (type.starts_with(name) && (type == name || type.substr(name.size()) == "VariableOp")) return name;
  constexpr std::string_view resource = "Resource", apply = "Apply";
  if (type.starts_with(resource)) type.remove_prefix(resource.size());
  return type.starts_with(apply) ? type.substr(apply.size()) : std::string_view();
}

bool is_small(const PartialShape& shape) {
  if (!shape.fully_known()) return false;
  int64_t elements = 1;
  for (const int64_t dim : shape.dims()) {
    if (dim != 0 && elements > most_elements / dim) return false;
    elements *= dim;
  }
  return true;
}

/// The positions of the inputs of an update.
struct UpdateInputs {
  std::vector<size_t> variables, scalars;
  std::optional<size_t> gradient;

  explicit UpdateInputs(const Node& node) {
    const bool assigns = node.type().starts_with("Assign");
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string& name = node.op->inputs[i].name;
      if (is_variable(node, i))
        variables.push_back(i);
      else if (name == "grad" || name == "delta" || (assigns && name == "value"))
        gradient = i;
      else
        scalars.push_back(i);
    }
  }
};

class UpdateFuser {
 public:
  UpdateFuser(GraphDraft& draft, const FrameInfo& frames, const std::vector<DeviceId>& device,
              const OpTable& ops, const CanRun& can_run)
      : draft_(draft), device_(device), ops_(ops), can_run_(can_run), needed_(draft.nodes.size(), true),
        has_data_consumers_(draft.nodes.size(), false) {
    std::vector<NodeId> switches;
    for (const Node& node : draft.nodes) {
      for (const Output& input : node.inputs) has_data_consumers_[input.node] = true;
      if (flow_kind(node) == FlowKind::Switch && frames.of_node[node.id] == root_frame)
        switches.push_back(node.id);
    }
    may_be_dead_ = reached_from(switches);
  }

  void run() {
    for (const std::vector<NodeId>& updates : alike()) {
      const std::vector<NodeId> apart = independent(updates);
      for (size_t at = 0; at < apart.size(); at += most_updates)
        fuse({apart.begin() + static_cast<std::ptrdiff_t>(at),
              apart.begin() + static_cast<std::ptrdiff_t>(std::min(at + most_updates, apart.size()))});
    }
  }
  const std::vector<bool>& needed() const { return needed_; }

 private:
  bool may_be_fused(const Node& node) const {
    if (method_of(node).empty() || has_data_consumers_[node.id] || may_be_dead_[node.id]) return false;
    const UpdateInputs in(node);
    if (!in.gradient) return false;
    return is_small(draft_.shape(node.inputs[*in.gradient])) &&
           std::ranges::all_of(in.variables,
                               [&](size_t i) { return draft_.node(node.inputs[i].node).inputs.empty(); });
  }

  /// Returns the updates that one node could carry out if they do not depend on each other.
  std::vector<std::vector<NodeId>> alike() const {
    std::vector<std::vector<NodeId>> groups;
    for (const Node& node : draft_.nodes) {
      if (!may_be_fused(node)) continue;
      const auto group =
          std::ranges::find_if(groups, [&](const auto& ids) { return are_alike(draft_.node(ids[0]), node); });
      if (group == groups.end())
        groups.push_back({node.id});
      else
        group->push_back(node.id);
    }
    return groups;
  }
  bool are_alike(const Node& a, const Node& b) const {
    return a.op == b.op && device_[a.id] == device_[b.id] && a.attrs == b.attrs &&
           std::ranges::all_of(UpdateInputs(a).scalars,
                               [&](size_t i) { return have_same_value(a.inputs[i], b.inputs[i]); });
  }
  bool have_same_value(Output a, Output b) const {
    const Tensor *const x = draft_.constant(a), *const y = draft_.constant(b);
    return a == b || (x && y && equal(AttrValue(*x), AttrValue(*y)));
  }

  /// Leaves out the updates that depend on others, and those of a variable that another one changes, too.
  std::vector<NodeId> independent(const std::vector<NodeId>& updates) const {
    if (updates.size() < 2) return {};
    const std::vector<bool> later = reached_from(updates);
    std::set<Output> changed;
    std::vector<NodeId> result;
    for (const NodeId id : updates) {
      const Node& node = draft_.node(id);
      const auto variables = UpdateInputs(node).variables;
      const bool is_first =
          std::ranges::none_of(variables, [&](size_t i) { return changed.contains(node.inputs[i]); });
      if (later[id] || !is_first) continue;
      for (const size_t i : variables) changed.insert(node.inputs[i]);
      result.push_back(id);
    }
    return result;
  }

  /// Returns, for each node, whether it waits for one of these.
  std::vector<bool> reached_from(std::vector<NodeId> nodes) const {
    std::vector<std::vector<NodeId>> consumers(draft_.nodes.size());
    for (const Node& node : draft_.nodes) {
      if (!needed_[node.id]) continue;
      for (const Output& input : node.inputs) consumers[input.node].push_back(node.id);
      for (const NodeId control : node.control_inputs) consumers[control].push_back(node.id);
    }
    std::vector<bool> reached(draft_.nodes.size(), false);
    while (!nodes.empty()) {
      const NodeId id = nodes.back();
      nodes.pop_back();
      for (const NodeId consumer : consumers[id])
        if (!reached[consumer]) {
          reached[consumer] = true;
          nodes.push_back(consumer);
        }
    }
    return reached;
  }

  void fuse(const std::vector<NodeId>& updates) {
    if (updates.size() < 2) return;
    Node node = fused_node(updates);
    if (!can_run_(node, device_[node.id])) return;
    for (const NodeId id : updates) needed_[id] = id == node.id;
    draft_.nodes[node.id] = std::move(node);
    const std::set<NodeId> replaced(updates.begin(), updates.end());
    for (Node& other : draft_.nodes) wait_for_fused(other, replaced, updates.back());
  }

  Node fused_node(const std::vector<NodeId>& updates) const {
    Node node = draft_.node(updates.back());
    const UpdateInputs in(node);
    std::vector<Output> inputs, gradients;
    std::set<NodeId> controls;
    for (const NodeId id : updates) {
      const Node& update = draft_.node(id);
      for (const size_t i : in.variables) inputs.push_back(update.inputs[i]);
      gradients.push_back(update.inputs[*in.gradient]);
      controls.insert(update.control_inputs.begin(), update.control_inputs.end());
    }
    const size_t variables = inputs.size();
    for (const size_t i : in.scalars) inputs.push_back(node.inputs[i]);
    inputs.insert(inputs.end(), gradients.begin(), gradients.end());
    const bool on_references = node.expects_ref[0];
    node.op = ops_.find(on_references ? "_FusedApply" : "_FusedResourceApply");
    node.attrs = fused_attributes(draft_.node(updates.back()), in, updates.size());
    node.inputs = std::move(inputs);
    node.expects_ref.assign(node.inputs.size(), false);
    std::fill_n(node.expects_ref.begin(), variables, on_references);
    node.control_inputs.assign(controls.begin(), controls.end());
    node.output_types.clear();
    node.output_shapes.clear();
    return node;
  }

  Attributes fused_attributes(const Node& update, const UpdateInputs& in, size_t count) const {
    const AttrValue* const dtype = update.attrs.find("dtype");
    std::vector<DType> scalar_types;
    for (const size_t i : in.scalars) scalar_types.push_back(draft_.type(update.inputs[i]).dtype);
    Attributes attrs = {{"method", std::string(method_of(update))},
                        {"N", static_cast<int64_t>(count)},
                        {"V", static_cast<int64_t>(count * in.variables.size())},
                        {"T", dtype ? *dtype : *update.attrs.find("T")},
                        {"scalar_types", std::move(scalar_types)},
                        {"use_nesterov", false},
                        {"update_slots", true},
                        {"multiply_linear_by_lr", false}};
    for (const char* name : {"use_nesterov", "update_slots", "multiply_linear_by_lr"})
      if (const AttrValue* const value = update.attrs.find(name)) attrs.set(name, *value);
    return attrs;
  }

  static void wait_for_fused(Node& node, const std::set<NodeId>& replaced, NodeId fused) {
    auto& controls = node.control_inputs;
    const auto is_replaced = [&](NodeId id) { return replaced.contains(id); };
    if (std::ranges::none_of(controls, is_replaced)) return;
    std::erase_if(controls, is_replaced);
    controls.insert(std::ranges::lower_bound(controls, fused), fused);
  }

  GraphDraft& draft_;
  const std::vector<DeviceId>& device_;  ///< of each node
  const OpTable& ops_;
  const CanRun& can_run_;
  std::vector<bool> needed_;  ///< false for each node that a fused node has replaced
  std::vector<bool> has_data_consumers_, may_be_dead_;
};

}  // namespace

Result<size_t> fuse_updates(Graph& graph, std::vector<DeviceId>& device, const CanRun& can_run) {
  TROUPE_ASSIGN(const FrameInfo frames, assign_frames(graph));
  Graph result = graph.empty();
  GraphDraft draft{std::move(graph).release()};
  const size_t before = draft.nodes.size();
  UpdateFuser fuser(draft, frames, device, *result.ops(), can_run);
  fuser.run();
  graph = without_replaced(std::move(draft), fuser.needed(), std::move(result), device);
  return before - graph.size();
}

}  // namespace troupe
