#include "graph/passes/simplify/loop_layouts.h"

#include <algorithm>
#include <map>

#include "graph/build/frames.h"
#include "graph/passes/expression_rewriter.h"

namespace troupe {
namespace {

class LoopRewriter : ExpressionRewriter {
 public:
  LoopRewriter(GraphDraft& draft, std::vector<NodeId>& origin, const OpTable& ops, FrameInfo frames)
      : ExpressionRewriter(draft, origin, ops), frames_(std::move(frames)), count_(draft.nodes.size()),
        uses_(count_, 0) {
    for (const Node& node : draft.nodes) {
      const bool reads_shape = node.type() == "Shape";
      for (const Output& input : node.inputs) uses_[input.node] += reads_shape ? 0 : 1;
      const bool in_loop = frames_.of_node[node.id] != root_frame;
      loops_change_state_ = loops_change_state_ || (in_loop && node.op->effect == Effect::State);
    }
  }

  /// Returns the number of nodes that were replaced.
  size_t run() {
    size_t replaced = 0;
    for (NodeId id = 0; id < count_; ++id) {
      look_at(id);
      const std::string& type = outermost().type();
      if (type == "TensorListFromTensor") replaced += list_of_reversed();
      if (type == "ReverseV2") replaced += reversed_stack();
      if (type == "MatMul") replaced += transposed_product();
    }
    return replaced;
  }

 private:
  bool used_once(NodeId id) const { return uses_[id] == 1; }

  /// Whether the input with the axes of a ReverseV2 names the first dimension only.
  bool reverses_first(const Node& node) const {
    const Tensor* const axes = draft_.constant(node.inputs[1]);
    if (!axes || axes->elements() != 1) return false;
    return axes->dtype() == DType::Int32 ? axes->as<int32_t>()[0] == 0
                                         : axes->dtype() == DType::Int64 && axes->as<int64_t>()[0] == 0;
  }

  Output reversed(Output list) { return add("_TensorListReverse", {list}, list); }

  bool list_of_reversed() {
    const Node* const reverse = inner("ReverseV2", outermost().inputs[0]);
    if (!reverse || !used_once(reverse->id) || !reverses_first(*reverse)) return false;
    const Output tensor = reverse->inputs[0];
    replace_in_shapes(reverse->id, tensor);
    const Output list = add_like(outermost(), {tensor, outermost().inputs[1]});
    return become("_TensorListReverse", {list});
  }
  /// Lets the nodes that read the shape of a node read that of another tensor of the same shape.
  void replace_in_shapes(NodeId id, Output tensor) {
    for (Node& node : draft_.nodes)
      if (node.type() == "Shape" && node.inputs[0].node == id) node.inputs[0] = tensor;
  }

  bool reversed_stack() {
    if (!reverses_first(outermost())) return false;
    const Node* const stack = inner("TensorListStack", outermost().inputs[0]);
    if (!stack || !used_once(stack->id)) return false;
    const Node found = *stack;
    return become("TensorListStack", {reversed(found.inputs[0]), found.inputs[1]}, found.attrs);
  }

  bool transposed_product() {
    const Node& product = outermost();
    if (!product.attrs.get<bool>("transpose_b") || product.output_types[0].dtype != DType::Float)
      return false;
    const NodeId enter = product.inputs[1].node;
    if (!is_invariant(draft_.node(enter)) || !draft_.shape(product.inputs[1]).has_rank(2)) return false;
    if (draft_.type(product.inputs[1]).is_ref && loops_change_state_) return false;
    Attributes attrs = product.attrs;
    attrs.set("transpose_b", false);
    const Output left = product.inputs[0];
    return become("MatMul", {left, transposed(enter)}, std::move(attrs));
  }
  static bool is_invariant(const Node& node) {
    return flow_kind(node) == FlowKind::Enter && node.attrs.get<bool>("is_constant");
  }

  /// Returns the transpose of an invariant matrix, inside of its loop. It is computed once the values that enter the loop are
  /// there, because a variable must not be read sooner.
  Output transposed(NodeId enter) {
    if (const auto known = transposed_.find(enter); known != transposed_.end()) return known->second;
    const Node source = draft_.node(enter);
    const PartialShape swapped{source.output_shapes[0][1], source.output_shapes[0][0]};
    const Output order = add_constant(Tensor::vector<int32_t>({1, 0}));
    const Output outside =
        add("Transpose", {source.inputs[0], order}, DType::Float, swapped, {{"Tperm", DType::Int32}});
    draft_.nodes[order.node].device = draft_.nodes[outside.node].device = source.device;
    // In a loop around this one, each iteration needs the constant.
    const bool nested = frames_.of_node[enter] != root_frame;
    if (nested) draft_.nodes[order.node].control_inputs.push_back(source.inputs[0].node);
    for (const NodeId other : frames_.frames[frames_.of_outputs[enter]].enters) wait_for(other, outside.node);
    Attributes attrs = source.attrs;
    const Output inside = add("Enter", {outside}, DType::Float, swapped, std::move(attrs));
    return transposed_[enter] = inside;
  }
  /// Makes the node wait for what an Enter node waits for.
  void wait_for(NodeId enter, NodeId node) {
    std::vector<NodeId>& controls = draft_.nodes[node].control_inputs;
    const Node& other = draft_.node(enter);
    controls.insert(controls.end(), other.control_inputs.begin(), other.control_inputs.end());
    for (const Output& input : other.inputs) controls.push_back(input.node);
    std::ranges::sort(controls);
    controls.erase(std::unique(controls.begin(), controls.end()), controls.end());
  }

  FrameInfo frames_;
  size_t count_;                ///< of the nodes before the pass
  std::vector<uint32_t> uses_;  ///< how many inputs, other than those of Shape, are outputs of each node
  bool loops_change_state_ = false;
  std::map<NodeId, Output> transposed_;  ///< for each Enter node of a matrix
};

}  // namespace

Result<size_t> lay_out_loops(Subgraph& subgraph) {
  TROUPE_ASSIGN(FrameInfo frames, assign_frames(subgraph.graph));
  Graph result = subgraph.graph.empty();
  GraphDraft draft{std::move(subgraph.graph).release()};
  const size_t replaced = LoopRewriter(draft, subgraph.origin, *result.ops(), std::move(frames)).run();
  subgraph.graph = std::move(draft).into(std::move(result));
  return replaced;
}

}  // namespace troupe
