// The loop that computes the gradients of a loop (features.md G6-G8): it runs backward over the iterations, as often as the loop
// ran. What it needs of an iteration, the loop pushes on a list of tensors, a variable that is added to it, and the backward loop
// pops it. Both are plain values, so the backward loop has gradients, too. Used by gradients(). One thread.
//
//   forward    list = push(list, v)  in each iteration; inside a branch, only if the branch is taken
//   backward   list, v = pop(list)
#pragma once

#include <map>
#include <memory>
#include <string>

#include "graph/build/loop_writer.h"
#include "graph/build/loops.h"

namespace troupe {

/// Returns the name under which the nodes of the loop stand, without a slash at its end.
std::string folder_of(const Graph& graph, const Loop& loop);

/// Adds to a loop what its backward loop needs.
class ForwardLoop {
 public:
  ForwardLoop(Graph& graph, Loops& loops, const Loop& loop);
  const Loop& loop() const { return loop_; }
  /// Returns the number of iterations, after the loop.
  Output count();
  /// Returns the list of what `value` was in each iteration, or in those in which its branch was taken, after the loop.
  Output save(Output value);
  /// Returns the output of a node of this op in the loop that reads `value`.
  Output read(std::string_view op, const Attributes& attrs, Output value);

 private:
  Output entered(Output constant, FrameId frame);
  Output initial(const Tensor& value);
  Output initial_list(DType element);
  LoopWriter::Variable begin(Output initial);

  Scope scope_;
  Loops& loops_;
  const Loop& loop_;
  LoopWriter writer_;
  Guards guards_;  ///< the branches around the loop
};

class BackwardContext;

/// Builds the backward loop.
class BackwardLoop {
 public:
  /// Nodes outside the loop are added to the scope `outside`.
  BackwardLoop(const Scope& outside, Loops& loops, const Loop& loop);
  /// Returns the scope of the body. What its nodes use of the forward loop is saved there.
  const Scope& inside() const { return inside_; }
  /// Adds a variable, whose value has this shape in every iteration.
  LoopWriter::Variable begin(Output initial, const PartialShape& shape);
  void close(const LoopWriter::Variable& variable, Output next) { writer_.close(variable, next); }

 private:
  friend class BackwardContext;
  Output pop(Output value);

  Loops& loops_;
  ForwardLoop forward_;
  Attributes attrs_;
  Scope outside_;
  std::shared_ptr<BackwardContext> context_;
  Scope inside_;
  LoopWriter writer_;
  Output condition_;
};

}  // namespace troupe
