// FlowContext: what happens to nodes that are built inside a branch or a loop (features.md
// F12, F13). The Scope inside holds the context and passes each new node through it. cond
// and while_loop (graph/build/control_flow.h) make contexts. One thread at a time per graph.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>

#include "graph/build/scope.h"

namespace troupe {

class FlowContext {
 public:
  /// `outer` is the context around this one; null if there is none.
  explicit FlowContext(std::shared_ptr<FlowContext> outer) : outer_(std::move(outer)) {}
  virtual ~FlowContext() = default;
  FlowContext(const FlowContext&) = delete;
  FlowContext& operator=(const FlowContext&) = delete;

  /// Prepares a node to be added inside: replaces its inputs from outside by imported values. If nothing
  /// else makes the node run when the branch or iteration runs, it gets a control input from the pivot.
  virtual void import_inputs(NodeSpec& spec);
  /// Returns the value that stands for `output` inside.
  virtual Output import_value(Output output);
  /// Records that the node is inside this context, and so inside all contexts around it.
  void add_node(NodeId node);
  /// The pivot is a node that runs exactly when the branch or iteration runs.
  void set_pivot(NodeId pivot) { pivot_ = pivot; }
  NodeId pivot() const { return pivot_; }

 protected:
  /// Makes the value that stands inside for a value of the outer context. Called once per value.
  virtual Output make_import(Output outside) = 0;
  /// Returns the node to wait for inside in place of a node of the outer context; nothing if no control input is needed.
  virtual std::optional<NodeId> wait(NodeId outside) = 0;
  virtual bool needs_pivot(const NodeSpec& spec) const = 0;
  bool is_imported(Output output) const { return imported_.contains(output); }

 private:
  std::optional<NodeId> import_control(NodeId node);

  std::shared_ptr<FlowContext> outer_;
  NodeId pivot_ = 0;
  std::unordered_set<NodeId> inside_;
  std::map<Output, Output> imports_;  ///< from values outside to values inside
  std::set<Output> imported_;         ///< the values inside
};

}  // namespace troupe
