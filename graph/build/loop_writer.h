// LoopWriter: adds the nodes of a while loop's variables (features.md F13). LoopContext imports what the nodes inside use from
// outside. while_loop() and the gradients of loops use both. One thread at a time per graph.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "graph/build/flow_context.h"
#include "graph/build/scope.h"

namespace troupe {

class LoopContext : public FlowContext {
 public:
  /// Enter nodes of values from outside are added to the scope `outside`.
  LoopContext(std::shared_ptr<FlowContext> outer, Scope outside, Attributes enter);
  /// Sets the Enter node of the first variable.
  void set_first(NodeId enter) { first_ = enter; }

 protected:
  Output make_import(Output outside) override;
  /// No iteration begins before the first variable has entered, so that variable's Enter waits for the node.
  std::optional<NodeId> wait(NodeId outside) override;
  bool needs_pivot(const NodeSpec& spec) const override;

 private:
  Scope outside_;
  Attributes enter_;
  NodeId first_ = 0;
};

/// Returns a constant scalar of int32.
Output integer(const Scope& scope, int32_t value);
/// Returns a constant vector of int32.
Output integers(const Scope& scope, const std::vector<int32_t>& values);
/// Returns the size of the first dimension of a tensor, of rank 1 or more, as a scalar of int32.
Output first_dimension(const Scope& scope, Output tensor);
/// Returns the argument element_shape of ops on lists of tensors: the scalar -1 if the shape is not fully known.
Output element_shape(const Scope& scope, const PartialShape& shape);

/// Returns true if every tensor of shape `now` also has the shape `invariant`.
bool satisfies(const PartialShape& now, const PartialShape& invariant);

/// Returns the attributes of the Enter nodes of a new loop: frame_name and parallel_iterations.
Attributes new_frame(const Scope& scope, int64_t parallel_iterations);

class LoopWriter {
 public:
  /// `attrs` are those of the Enter nodes. Nodes that bring values in are added to `outside`, all
  /// others to `inside`.
  LoopWriter(Scope outside, Scope inside, Attributes attrs)
      : outside_(std::move(outside)), inside_(std::move(inside)), attrs_(std::move(attrs)) {}

  /// A variable whose NextIteration is still missing.
  struct Variable {
    Output enter;      ///< the first value
    Output merge;      ///< the value at the beginning of each iteration, where the condition is computed
    Output body = {};  ///< the value in the body
    Output exit = {};  ///< the last value, outside of the loop
  };
  /// Adds Enter and Merge. `shape` is what the value has in every iteration.
  Variable begin(Output initial, const PartialShape& shape) const;
  /// Adds the Switch and the Exit, once the LoopCond is there.
  void steer(Variable& variable, Output condition) const;
  /// Fails with InvalidArgument, naming the variable, if `next` is not a tensor of its dtype whose shape the loop allows.
  Status check(const Variable& variable, const PartialShape& shape, Output next,
               const std::string& name) const;
  /// Adds the NextIteration.
  void close(const Variable& variable, Output next) const;

 private:
  Scope outside_, inside_;
  Attributes attrs_;
};

}  // namespace troupe
