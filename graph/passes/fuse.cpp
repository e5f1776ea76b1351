#include "graph/passes/fuse.h"

#include <algorithm>

#include "graph/passes/graph_draft.h"

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

class Fuser {
 public:
  Fuser(GraphDraft& draft, const std::vector<DeviceId>& device, const OpTable& ops, const CanRun& can_run)
      : draft_(draft), device_(device), ops_(ops), can_run_(can_run), consumer_(draft.nodes.size(), nobody),
        rows_from_(draft.nodes.size()), needed_(draft.nodes.size(), true) {
    for (const Node& node : draft.nodes) {
      for (const Output& input : node.inputs) note_use(input, node.id);
      for (const NodeId control : node.control_inputs) consumer_[control] = several;
    }
  }

  Status run() {
    TROUPE_RETURN_IF_FAILED(find_row_sources());
    for (NodeId id = 0; id < draft_.nodes.size(); ++id) try_fuse(id);
    return {};
  }
  const std::vector<bool>& needed() const { return needed_; }

 private:
  static constexpr NodeId nobody = no_node, several = no_node - 1;

  void note_use(Output output, NodeId by) {
    NodeId& consumer = consumer_[output.node];
    consumer = consumer == nobody && output.index == 0 ? by : several;
  }

  /// Finds where the number of rows (the size of dimension 0) of each node's output 0 comes from: two outputs from the same
  /// source have equally many.
  Status find_row_sources() {
    TROUPE_ASSIGN(const auto order, topological_order(draft_.nodes));
    for (const NodeId id : order) {
      const Node& node = draft_.node(id);
      rows_from_[id] = {id, 0};
      if (keeps_rows(node)) rows_from_[id] = row_source(node.inputs[0]);
      if (is_sum(node) && row_source(node.inputs[0]) == row_source(node.inputs[1]))
        rows_from_[id] = row_source(node.inputs[0]);
    }
    return {};
  }
  Output row_source(Output output) const { return output.index == 0 ? rows_from_[output.node] : output; }
  static bool keeps_rows(const Node& node) {
    static constexpr std::string_view ops[] = {
        "AvgPool", "BiasAdd", "Conv2D", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "Identity",
        "LRN",     "MaxPool", "Relu",   "Relu6"};
    if (node.type() == "MatMul") return !node.attrs.get<bool>("transpose_a");
    return std::ranges::find(ops, node.type()) != std::end(ops);
  }
  static bool is_sum(const Node& node) { return node.type() == "Add" || node.type() == "AddV2"; }

  void try_fuse(NodeId id) {
    const char* const fused = fused_op(draft_.node(id));
    if (!fused || !needed_[id]) return;
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
    if (next >= several || !needed_[next]) return false;
    const Node& node = draft_.node(next);
    if (device_[next] != device_[chain.last] || !node.control_inputs.empty() || !is_float(node)) return false;
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

  static bool is_inference_norm(const Node& node) {
    return node.op->outputs[0].name == "y" && !node.attrs.get<bool>("is_training") && has_last_channels(node);
  }

  /// A sum with a tensor of the same shape, or with a vector of an element for each channel, which is a bias.
  bool add_sum(Chain& chain, Output other) const {
    const PartialShape &shape = draft_.shape({chain.last, 0}), &added = draft_.shape(other);
    if (chain.has("Add") || !added.known_rank() || !shape.known_rank()) return false;
    const bool bias = added.has_rank(1) && chain.stages.empty() && added.fully_known() &&
                      added[0] == shape[shape.rank() - 1];
    if (!bias && !have_same_shape({chain.last, 0}, other)) return false;
    chain.stages.push_back(bias ? "BiasAdd" : "Add");
    chain.arguments.push_back(other);
    return true;
  }

  bool have_same_shape(Output a, Output b) const {
    const auto first = draft_.shape(a).dims(), second = draft_.shape(b).dims();
    if (!std::ranges::equal(first, second)) return false;
    if (std::ranges::count(first.subspan(1), unknown_dim) != 0) return false;
    return first[0] != unknown_dim || row_source(a) == row_source(b);
  }

  /// Puts the fused node in the place of the last one.
  void replace(NodeId product, const char* fused, const Chain& chain) {
    Node node = draft_.node(product);
    node.op = ops_.find(fused);
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
    if (!can_run_(node, device_[chain.last])) return;
    draft_.nodes[chain.last] = std::move(node);
    for (const NodeId inner : chain.inner) needed_[inner] = false;
  }

  GraphDraft& draft_;
  const std::vector<DeviceId>& device_;
  const OpTable& ops_;
  const CanRun& can_run_;
  /// For each node: the only one that uses it, if that uses output 0; nobody; or several.
  std::vector<NodeId> consumer_;
  std::vector<Output> rows_from_;  ///< for each node, the source of the rows of output 0
  std::vector<bool> needed_;       ///< for each node
};

}  // namespace

Result<size_t> fuse(Graph& graph, std::vector<DeviceId>& device, const CanRun& can_run) {
  Graph result = graph.empty();
  GraphDraft draft{std::move(graph).release()};
  Fuser fuser(draft, device, *result.ops(), can_run);
  TROUPE_RETURN_IF_FAILED(fuser.run());
  const size_t before = draft.nodes.size();
  const std::vector<NodeId> new_id = draft.keep(fuser.needed());
  for (NodeId id = 0; id < before; ++id)
    if (new_id[id] != no_node) device[new_id[id]] = device[id];
  device.resize(draft.nodes.size());
  graph = std::move(draft).into(std::move(result));
  return before - graph.size();
}

}  // namespace troupe
