#include "graph/passes/fuse/fuse_rules.h"

#include <algorithm>

namespace troupe {
namespace {

/// A chain of nodes, from the product on, and what the fused node will have.
struct Chain {
  NodeId last;
  std::vector<NodeId> inner;  ///< all before the last one
  std::vector<Output> arguments;
  std::vector<std::string> stages;
  float epsilon = 0;

  bool has(const char* stage) const { return std::ranges::find(stages, stage) != stages.end(); }
};

class ProductFuser {
 public:
  explicit ProductFuser(FusedDraft& fused)
      : fused_(fused), draft_(fused.draft), consumer_(draft_.nodes.size(), nobody),
        other_is_used_(draft_.nodes.size(), false) {
    for (const Node& node : draft_.nodes) {
      for (const Output& input : node.inputs) note_use(input, node.id);
      for (const NodeId control : node.control_inputs) consumer_[control] = several;
    }
  }

  void run() {
    for (NodeId id = 0; id < draft_.nodes.size(); ++id) try_fuse(id);
  }

 private:
  static constexpr NodeId nobody = no_node, several = no_node - 1;

  void note_use(Output output, NodeId by) {
    NodeId& consumer = consumer_[output.node];
    consumer = consumer == nobody && output.index == 0 ? by : several;
    if (output.index != 0) other_is_used_[output.node] = true;
  }

  static bool is_sum(const Node& node) {
    return node.type() == "Add" || node.type() == "AddV2" ||
           (node.type() == "AddN" && node.inputs.size() == 2);
  }

  void try_fuse(NodeId id) {
    const char* const fused = fused_op(draft_.node(id));
    if (!fused || !fused_.needed[id]) return;
    Chain chain{id, {}, {}, {}, 0};
    while (extend(chain)) {
    }
    if (!chain.stages.empty()) replace(id, fused, chain);
  }

  static bool is_float(const Node& node) {
    return !node.output_types.empty() && node.output_types[0] == EdgeType{DType::Float, false};
  }

  static const char* fused_op(const Node& node) {
    const std::string& op = node.type();
    if (op == "MatMul" && is_float(node)) return "_FusedMatMul";
    if (op == "Conv2D" && is_float(node) && has_last_channels(node)) return "_FusedConv2D";
    return nullptr;
  }
  static bool has_last_channels(const Node& node) {
    return node.attrs.get<std::string>("data_format") == "NHWC";
  }

  /// Takes the only consumer of the chain into it. Returns false if there is none that can be taken.
  bool extend(Chain& chain) {
    const NodeId next = consumer_[chain.last];
    if (next >= several || !fused_.needed[next]) return false;
    const Node& node = draft_.node(next);
    if (fused_.device[next] != fused_.device[chain.last] || !node.control_inputs.empty() || !is_float(node))
      return false;
    if (!add_stage(chain, node)) return false;
    chain.inner.push_back(chain.last);
    chain.last = next;
    return true;
  }

  bool add_stage(Chain& chain, const Node& node) const {
    const std::string& op = node.type();
    if (chain.has("Relu")) return false;
    if (op == "Relu") {
      chain.stages.push_back("Relu");
      return true;
    }
    const bool first = chain.stages.empty(), follows = node.inputs[0] == Output{chain.last, 0};
    if (op == "BiasAdd" && first && follows && has_last_channels(node)) {
      chain.stages.push_back("BiasAdd");
      chain.arguments.push_back(node.inputs[1]);
      return true;
    }
    if (op.starts_with("FusedBatchNorm") && first && follows && is_inference_norm(node)) {
      chain.stages.push_back("FusedBatchNorm");
      chain.arguments.assign(node.inputs.begin() + 1, node.inputs.end());
      chain.epsilon = node.attrs.get<float>("epsilon");
      return true;
    }
    return is_sum(node) && add_sum(chain, node.inputs[follows ? 1 : 0]);
  }

  /// Whether the node is a norm that does not train, of which only the output y is used.
  bool is_inference_norm(const Node& node) const {
    return node.op->outputs[0].name == "y" && !node.attrs.get<bool>("is_training") &&
           has_last_channels(node) && !other_is_used_[node.id];
  }

  /// A sum with a tensor of the same shape, or with a vector of an element for each channel, which is a bias.
  bool add_sum(Chain& chain, Output other) const {
    const auto shape = fused_.shapes.of({chain.last, 0}), added = fused_.shapes.of(other);
    if (chain.has("Add") || !added || !shape) return false;
    const bool bias = added->size() == 1 && chain.stages.empty() && added->front().is_number() &&
                      !shape->empty() && added->front() == shape->back();
    if (!bias && !fused_.shapes.same({chain.last, 0}, other)) return false;
    chain.stages.push_back(bias ? "BiasAdd" : "Add");
    chain.arguments.push_back(other);
    return true;
  }

  /// Puts the fused node in the place of the last one.
  void replace(NodeId product, const char* fused, const Chain& chain) {
    Node node = draft_.node(product);
    node.op = fused_.ops.find(fused);
    node.id = chain.last;
    node.inputs.insert(node.inputs.end(), chain.arguments.begin(), chain.arguments.end());
    node.expects_ref.resize(node.inputs.size(), false);
    node.output_shapes = draft_.node(chain.last).output_shapes;
    node.output_shapes.resize(1);
    Attributes attrs;
    for (const auto& [name, value] : node.attrs)
      if (node.op->find_attr(name)) attrs.set(name, value);
    attrs.set("num_args", static_cast<int64_t>(chain.arguments.size()));
    attrs.set("fused_ops", chain.stages);
    attrs.set("epsilon", chain.epsilon);
    node.attrs = std::move(attrs);
    if (!fused_.can_run(node, fused_.device[chain.last])) return;
    draft_.nodes[chain.last] = std::move(node);
    for (const NodeId inner : chain.inner) fused_.needed[inner] = false;
  }

  FusedDraft& fused_;
  GraphDraft& draft_;
  /// For each node: the only one that uses it, if that uses output 0; nobody; or several.
  std::vector<NodeId> consumer_;
  std::vector<bool> other_is_used_;  ///< for each node: whether an output other than output 0 is used
};

}  // namespace

void fuse_products(FusedDraft& draft) { ProductFuser(draft).run(); }

}  // namespace troupe
