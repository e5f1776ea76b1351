// Gradients by graph construction (features.md G1-G4): reverse-mode differentiation, which adds nodes to the same graph. Source:
// the TensorFlow white paper, section 4.1. Failures throw Error, as in the graph builder. One thread at a time per graph.
#pragma once

#include <variant>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Some rows of a larger tensor: row i of `values` belongs to row
/// indices[i]. Rows with the same index are summed. The gradient of Gather.
struct IndexedSlices {
  Output values;       ///< shape [n, ...]
  Output indices;      ///< shape [n], int32 or int64
  Output dense_shape;  ///< shape [rank], int32: the shape of the whole tensor
};

/// No gradient, a dense one, or a sparse one.
using Gradient = std::variant<std::monostate, Output, IndexedSlices>;

/// The interface of an op's gradient function: it reads the forward
/// node and the gradients of its outputs, and sets those of its inputs.
class GradientContext {
 public:
  /// `outputs` is the node whose outputs stand for those of `node`: the node itself or one that computes the same.
  GradientContext(Scope scope, NodeId node, NodeId outputs, std::vector<Gradient> output_gradients);

  const Scope& scope() const { return scope_; }
  const Node& node() const { return scope_.graph().node(node_); }
  Output input(size_t i) const { return node().inputs[i]; }
  Output output(size_t i) const { return {outputs_, static_cast<uint32_t>(i)}; }
  template <class T>
  T attr(std::string_view name) const {
    return node().attrs.get<T>(name);  // a copy, because the graph grows while gradients are built
  }

  bool has_gradient(size_t output) const;
  /// Returns the gradient of an output in dense form, or zeros if the output has none.
  Output gradient(size_t output = 0) const;

  /// Inputs that are never set have no gradient. Throws Error(Internal) if there is no such input.
  void set(size_t input, Output gradient);
  void set(size_t input, const IndexedSlices& gradient);
  std::vector<Gradient> take() &&;

 private:
  Gradient& gradient_of_input(size_t input);

  Scope scope_;
  NodeId node_, outputs_;
  std::vector<Gradient> output_gradients_, input_gradients_;
};

/// Adds d(sum of ys)/dx for each x to the graph. The result has no gradient for an x on which no y depends.
/// If `grad_ys` is given, it has one element for each y: the gradient of y, or nothing for ones. Several
/// contributions are summed by AddN in a fixed order; slices are concatenated. Results inside the segments of
/// Scope::recomputed() are computed again once a gradient reaches the segment. Gradients by what a loop reads are
/// summed over its iterations in dense form. Throws Error: Unimplemented if an op on the path has no gradient
/// function, InvalidArgument if a y is not of a floating or complex dtype, if the number of `grad_ys` is not that of `ys`, or if a
/// given gradient, or what a gradient function returns, has another dtype than what it is the gradient of.
std::vector<Gradient> gradients(const Scope& scope, const std::vector<Output>& ys,
                                const std::vector<Output>& xs, const std::vector<Gradient>& grad_ys = {});

/// Returns a gradient in dense form, as in dense(g, gradients(g, {y}, {x})[0], x): slices are summed by UnsortedSegmentSum, and no
/// gradient becomes zeros of the shape of `x`.
Output dense(const Scope& scope, const Gradient& gradient, Output x);

}  // namespace troupe
#pragma GCC visibility pop
