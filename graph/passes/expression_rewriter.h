// ExpressionRewriter: what passes share that replace expressions, a node with nodes of which it is computed, by others. The base of
// their classes; new nodes are named after the outermost node of the expression, and get its device and colocation. One thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/passes/graph_draft.h"

namespace troupe {

class ExpressionRewriter {
 protected:
  /// The arguments must outlive the rewriter. `origin` has the origin of each node of the draft (Subgraph::origin).
  ExpressionRewriter(GraphDraft& draft, std::vector<NodeId>& origin, const OpTable& ops)
      : draft_(draft), origin_(origin), ops_(ops), names_(draft) {}

  const Node& outermost() const { return draft_.node(outermost_); }
  /// Begins to look at the expression that ends with this node.
  void look_at(NodeId outermost) { outermost_ = outermost; }

  /// Returns the argument of this function if the output is its result.
  std::optional<Output> argument(std::string_view function, Output output) const;
  /// Returns the node of this output if it has this op and may be an inner node of the expression, otherwise null. A node that
  /// reads a variable may not.
  const Node* inner(std::string_view op, Output output) const;

  /// Makes the outermost node another op of the same dtype and shape. Returns true.
  bool become(const char* op, std::vector<Output> inputs, Attributes attrs = {});
  /// Adds a node with one output. The attribute T, if the op has it, is the dtype of the output.
  Output add(const char* op, std::vector<Output> inputs, DType dtype, PartialShape shape,
             Attributes attrs = {});
  /// Adds a node whose output has the dtype and shape of `like`.
  Output add(const char* op, std::vector<Output> inputs, Output like) {
    return add(op, std::move(inputs), draft_.type(like).dtype, draft_.shape(like));
  }
  /// Adds a copy of the node with other inputs.
  Output add_like(const Node& node, std::vector<Output> inputs) {
    return append(node, node.type(), std::move(inputs));
  }
  Output add_constant(Tensor value);

  GraphDraft& draft_;

 private:
  void set_type(Node& node, const char* op, DType dtype) const;
  Output append(Node node, const std::string& op, std::vector<Output> inputs);
  void change(Node& node, const std::string& op, std::vector<Output> inputs) const;

  std::vector<NodeId>& origin_;
  const OpTable& ops_;
  NodeNames names_;
  NodeId outermost_ = no_node;
};

}  // namespace troupe
