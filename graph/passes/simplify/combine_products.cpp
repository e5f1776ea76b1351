#include "graph/passes/simplify/combine_products.h"

#include <algorithm>

#include "graph/build/frames.h"
#include "graph/build/recomputation.h"
#include "graph/passes/expression_rewriter.h"

namespace troupe {
namespace {

class ProductCombiner : ExpressionRewriter {
 public:
  ProductCombiner(GraphDraft& draft, std::vector<NodeId>& origin, const OpTable& ops, FrameInfo frames)
      : ExpressionRewriter(draft, origin, ops), frames_(std::move(frames)), uses_(draft.nodes.size(), 0) {
    for (const Node& node : draft.nodes) {
      for (const Output& input : node.inputs) ++uses_[input.node];
      for (const NodeId control : node.control_inputs) ++uses_[control];
    }
  }

  /// Returns the number of sums that were replaced.
  size_t run() {
    size_t replaced = 0;
    for (NodeId id = 0; id < uses_.size(); ++id)
      if (draft_.node(id).type() == "AddN") {
        look_at(id);
        if (replace()) ++replaced;
      }
    return replaced;
  }

 private:
  bool replace() {
    const std::vector<Output> products = outermost().inputs;
    if (products.size() < 2 || outermost().output_types[0].dtype != DType::Float || !is_large()) return false;
    if (!std::ranges::all_of(products, [&](Output product) { return may_be_combined(product); }))
      return false;
    const PartialShape& shape = outermost().output_shapes[0];
    const Output left = rows_of(products, 0, shape[0]), right = rows_of(products, 1, shape[1]);
    return become("MatMul", {left, right}, {{"transpose_a", true}, {"transpose_b", false}});
  }

  bool is_large() const {
    constexpr int64_t least = 64;
    const PartialShape& shape = outermost().output_shapes[0];
    return shape.has_rank(2) && shape.fully_known() && shape[0] >= least && shape[1] >= least;
  }
  bool may_be_combined(Output product) const {
    const Node* const node = inner("MatMul", product);
    return node && uses_[node->id] == 1 && node->attrs.get<bool>("transpose_a") &&
           !node->attrs.get<bool>("transpose_b") && takes_less_memory(*node);
  }
  /// Whether the two matrices, which are kept until the last product is computed, are no larger than their product, which would be
  /// kept otherwise.
  bool takes_less_memory(const Node& product) const {
    constexpr int64_t usual_rows = 256;  // are assumed where their number is not known
    const Node& left = draft_.node(product.inputs[0].node);
    if (left.attrs.find(copy_attr)) return false;
    const PartialShape& shape = left.output_shapes[product.inputs[0].index];
    const int64_t rows = shape.has_rank(2) && shape[0] != unknown_dim ? shape[0] : usual_rows;
    const PartialShape& result = outermost().output_shapes[0];
    return rows <= result[0] * result[1] / (result[0] + result[1]);
  }

  /// Puts the rows of these inputs of all products below each other.
  Output rows_of(const std::vector<Output>& products, size_t input, int64_t columns) {
    std::vector<Output> parts;
    for (const Output& product : products) parts.push_back(draft_.node(product.node).inputs[input]);
    const auto count = static_cast<int64_t>(parts.size());
    const Output axis = add_constant(Tensor::scalar<int32_t>(0));
    // Each iteration of a loop needs the constant.
    const bool in_loop = frames_.of_node[outermost().id] != root_frame;
    if (in_loop) draft_.nodes[axis.node].control_inputs.push_back(parts.front().node);
    parts.push_back(axis);
    return add("ConcatV2", std::move(parts), DType::Float, {unknown_dim, columns},
               {{"N", count}, {"Tidx", DType::Int32}});
  }

  FrameInfo frames_;
  std::vector<uint32_t> uses_;  ///< how many edges leave each node
};

}  // namespace

Result<size_t> combine_products(Subgraph& subgraph) {
  TROUPE_ASSIGN(FrameInfo frames, assign_frames(subgraph.graph));
  Graph result = subgraph.graph.empty();
  GraphDraft draft{std::move(subgraph.graph).release()};
  const size_t replaced = ProductCombiner(draft, subgraph.origin, *result.ops(), std::move(frames)).run();
  subgraph.graph = std::move(draft).into(std::move(result));
  return replaced;
}

}  // namespace troupe
