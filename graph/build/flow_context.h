// FlowContext: what being inside a branch or a loop does to nodes as they are built (features.md F12, F13). A Scope inside holds
// it and asks it about every node; cond and while_loop (graph/build/control_flow.h) make it. One thread at a time per graph.
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
  /// `around`: null outside every other.
  explicit FlowContext(std::shared_ptr<FlowContext> around) : around_(std::move(around)) {}
  virtual ~FlowContext() = default;
  FlowContext(const FlowContext&) = delete;
  FlowContext& operator=(const FlowContext&) = delete;

  /// The node is about to be added inside: its inputs from outside are replaced by what stands for them in here, and if nothing
  /// else makes it run when the inside does, it gets a control input from the pivot.
  void bring_in(NodeSpec& spec);
  /// The value as it is seen in here.
  Output bring(Output output);
  /// The node is inside, hence inside everything around as well.
  void note(NodeId node);
  /// A node that runs exactly when the inside does.
  void set_pivot(NodeId pivot) { pivot_ = pivot; }
  NodeId pivot() const { return pivot_; }

 protected:
  /// What stands in here for a value of the context around; asked once per value.
  virtual Output wrap(Output outside) = 0;
  /// What to wait for in here instead of a node of the context around; nothing when that has been seen to.
  virtual std::optional<NodeId> wait(NodeId outside) = 0;
  virtual bool needs_pivot(const NodeSpec& spec) const = 0;
  bool is_brought(Output output) const { return brought_.contains(output); }

 private:
  std::optional<NodeId> bring_control(NodeId node);

  std::shared_ptr<FlowContext> around_;
  NodeId pivot_ = 0;
  std::unordered_set<NodeId> inside_;
  std::map<Output, Output> stand_in_;  ///< outside -> in here
  std::set<Output> brought_;           ///< the values of stand_in_
};

}  // namespace troupe
