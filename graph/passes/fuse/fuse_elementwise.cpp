#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "graph/passes/fuse/fuse_rules.h"

namespace troupe {
namespace {

constexpr size_t max_steps = 48;

/// The ops that _FusedElementwise computes (kernels/ops/math/fused_elementwise.cpp), AddN as several sums.
bool is_elementwise(std::string_view op) {
  static const std::set<std::string_view> ops = {"Abs",
                                                 "Add",
                                                 "AddN",
                                                 "AddV2",
                                                 "Ceil",
                                                 "Div",
                                                 "Elu",
                                                 "EluGrad",
                                                 "Erf",
                                                 "Exp",
                                                 "Expm1",
                                                 "Floor",
                                                 "Log",
                                                 "Log1p",
                                                 "Maximum",
                                                 "Minimum",
                                                 "Mul",
                                                 "Neg",
                                                 "RealDiv",
                                                 "Reciprocal",
                                                 "ReciprocalGrad",
                                                 "Relu",
                                                 "Relu6",
                                                 "Relu6Grad",
                                                 "ReluGrad",
                                                 "Rsqrt",
                                                 "RsqrtGrad",
                                                 "Selu",
                                                 "SeluGrad",
                                                 "Sigmoid",
                                                 "SigmoidGrad",
                                                 "Sign",
                                                 "Softplus",
                                                 "SoftplusGrad",
                                                 "Softsign",
                                                 "SoftsignGrad",
                                                 "Sqrt",
                                                 "SqrtGrad",
                                                 "Square",
                                                 "SquaredDifference",
                                                 "Sub",
                                                 "Tanh",
                                                 "TanhGrad"};
  return ops.contains(op);
}

/// Nodes that one node may replace.
struct Cluster {
  NodeId root;
  std::vector<NodeId> members;      ///< with the root
  std::vector<NodeId> copies;       ///< computed again: other nodes use them, too
  std::map<NodeId, uint32_t> uses;  ///< of the nodes that members and copies use, how often members do

  bool has(NodeId id) const {
    return std::ranges::find(members, id) != members.end() || std::ranges::find(copies, id) != copies.end();
  }
  size_t steps() const { return members.size() + copies.size(); }
};

class ElementwiseFuser {
 public:
  explicit ElementwiseFuser(FusedDraft& fused)
      : fused_(fused), draft_(fused.draft), eligible_(draft_.nodes.size()), rank_(draft_.nodes.size()),
        uses_(draft_.nodes.size()) {
    for (uint32_t i = 0; i < fused.order.size(); ++i) rank_[fused.order[i]] = i;
    for (const Node& node : draft_.nodes) {
      if (!fused.needed[node.id]) continue;
      eligible_[node.id] = is_eligible(node);
      for (const Output& input : node.inputs) ++uses_[input.node];
      for (const NodeId control : node.control_inputs) uses_[control] |= awaited;
    }
  }

  void run() {
    for (auto id = fused_.order.rbegin(); id != fused_.order.rend(); ++id)
      if (fused_.needed[*id] && eligible_[*id]) try_fuse(*id);
  }

 private:
  /// Counted for a node that others wait for: more uses than members can have.
  static constexpr uint32_t awaited = 1u << 24;

  bool is_eligible(const Node& node) const {
    const Output result{node.id, 0};
    if (!is_elementwise(node.type()) || node.output_types[0] != EdgeType{DType::Float, false}) return false;
    if (draft_.shape(result).has_rank(0) || (node.type() == "AddN" && node.inputs.size() < 2)) return false;
    return std::ranges::all_of(node.inputs, [&](Output input) {
      return !draft_.type(input).is_ref && (is_scalar(input) || fused_.shapes.same(input, result));
    });
  }
  bool is_scalar(Output output) const { return draft_.shape(output).has_rank(0); }

  /// Whether the node can be computed together with the root: waiting for nothing, on the same device, of the same shape.
  bool fits(NodeId id, NodeId root) const {
    return eligible_[id] && draft_.node(id).control_inputs.empty() &&
           fused_.device[id] == fused_.device[root] && fused_.shapes.same({id, 0}, {root, 0});
  }

  void try_fuse(NodeId root) {
    Cluster cluster{root, {}, {}, {}};
    add_member(cluster, root);
    while (copy_shared(cluster)) {
    }
    if (cluster.members.size() > 1) replace(cluster);
  }

  /// Takes the node, and then each node that only members use.
  void add_member(Cluster& cluster, NodeId id) {
    cluster.members.push_back(id);
    for (const Output& input : draft_.node(id).inputs) {
      ++cluster.uses[input.node];
      if (cluster.uses[input.node] == uses_[input.node] && fits(input.node, cluster.root) &&
          cluster.steps() < max_steps)
        add_member(cluster, input.node);
    }
  }

  /// The only tensor of the full shape that an eligible node is computed from; no_node if there are several.
  NodeId only_operand(NodeId id) const {
    NodeId result = no_node;
    for (const Output& input : draft_.node(id).inputs) {
      if (is_scalar(input) || input.node == result) continue;
      if (result != no_node || input.index != 0) return no_node;
      result = input.node;
    }
    return result;
  }

  /// Whether the node may be computed again: nobody else but one node, which may be fused in turn, uses it.
  bool may_copy(const Cluster& cluster, NodeId id) const {
    const auto used = cluster.uses.find(id);
    const uint32_t here = used == cluster.uses.end() ? 0 : used->second;
    return fits(id, cluster.root) && uses_[id] - here <= 1;
  }

  /// The nodes from which an external input follows by single operands, nearest first.
  std::vector<NodeId> ancestors(const Cluster& cluster, NodeId id) const {
    constexpr size_t most = 4;
    std::vector<NodeId> result;
    while (result.size() < most && id != no_node && may_copy(cluster, id)) {
      id = only_operand(id);
      if (id != no_node) result.push_back(id);
    }
    return result;
  }

  /// Computes external inputs again where several follow from one tensor, or one from a tensor that is used anyway. Returns
  /// whether it did.
  bool copy_shared(Cluster& cluster) {
    if (cluster.members.size() < 2 || cluster.steps() + 8 > max_steps) return false;
    std::map<NodeId, std::vector<NodeId>> followers;  // of each tensor, the inputs that follow from it
    for (const auto& [id, count] : cluster.uses) {
      if (cluster.has(id)) continue;
      for (const NodeId from : ancestors(cluster, id)) followers[from].push_back(id);
    }
    for (const auto& [from, inputs] : followers) {
      const bool used = cluster.uses.contains(from);
      if (inputs.size() < 2 && !used) continue;
      for (const NodeId input : inputs) copy_until(cluster, input, from);
      return true;
    }
    return false;
  }
  void copy_until(Cluster& cluster, NodeId id, NodeId end) {
    for (; id != end && !cluster.has(id); id = only_operand(id)) {
      cluster.copies.push_back(id);
      for (const Output& input : draft_.node(id).inputs) cluster.uses.try_emplace(input.node, 0);
    }
  }

  void replace(const Cluster& cluster) {
    Program program(*this, cluster);
    Node node = draft_.node(cluster.root);
    node.op = fused_.ops.find("_FusedElementwise");
    node.inputs = program.inputs;
    node.expects_ref.assign(node.inputs.size(), false);
    node.attrs = {{"T", DType::Float},
                  {"num_args", static_cast<int64_t>(node.inputs.size())},
                  {"program", std::move(program.steps)}};
    if (!fused_.can_run(node, fused_.device[cluster.root])) return;
    for (const NodeId member : cluster.members) {
      if (member != cluster.root) fused_.needed[member] = false;
      for (const Output& input : draft_.node(member).inputs) --uses_[input.node];
    }
    for (const Output& input : node.inputs) ++uses_[input.node];
    eligible_[cluster.root] = false;
    draft_.nodes[cluster.root] = std::move(node);
  }

  /// The steps "OP operand..." of a cluster. Operand i is input i, or behind the inputs the result of a step.
  struct Program {
    std::vector<Output> inputs;
    std::vector<std::string> steps;

    Program(const ElementwiseFuser& fuser, const Cluster& cluster) {
      std::vector<NodeId> nodes = cluster.members;
      nodes.insert(nodes.end(), cluster.copies.begin(), cluster.copies.end());
      std::ranges::sort(nodes, {}, [&](NodeId id) { return fuser.rank_[id]; });
      for (const NodeId id : nodes)
        for (const Output& input : fuser.draft_.node(id).inputs)
          if (!cluster.has(input.node) && std::ranges::find(inputs, input) == inputs.end())
            inputs.push_back(input);
      for (const NodeId id : nodes) add(fuser.draft_.node(id), cluster);
    }

   private:
    void add(const Node& node, const Cluster& cluster) {
      std::vector<size_t> operands;
      for (const Output& input : node.inputs)
        operands.push_back(cluster.has(input.node) ? result_of_[input.node] : position(input));
      if (node.type() == "AddN") {
        size_t sum = operands[0];
        for (size_t i = 1; i < operands.size(); ++i) sum = step("Add", {sum, operands[i]});
        result_of_[node.id] = sum;
      } else {
        result_of_[node.id] = step(node.type(), operands);
      }
    }
    size_t step(std::string text, const std::vector<size_t>& operands) {
      for (const size_t operand : operands) text.append(" ").append(std::to_string(operand));
      steps.push_back(std::move(text));
      return inputs.size() + steps.size() - 1;
    }
    size_t position(Output input) const {
      return static_cast<size_t>(std::ranges::find(inputs, input) - inputs.begin());
    }

    std::map<NodeId, size_t> result_of_;
  };

  FusedDraft& fused_;
  GraphDraft& draft_;
  std::vector<bool> eligible_;  ///< for each node, as are the next two
  std::vector<uint32_t> rank_;  ///< its place in the order
  std::vector<uint32_t> uses_;
};

}  // namespace

void fuse_elementwise(FusedDraft& draft) { ElementwiseFuser(draft).run(); }

}  // namespace troupe
