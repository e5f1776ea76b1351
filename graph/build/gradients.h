// Gradients by graph construction (features.md G1-G4): reverse-mode differentiation that adds nodes to the same graph.
// Source: the white paper, section 4.1. Throws Error like the builder. One thread at a time per graph.
#pragma once

#include <variant>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Some rows of a bigger tensor: row i of `values` belongs to row indices[i] (repeats add up). The gradient type of Gather.
struct IndexedSlices {
  Output values;       ///< [n, ...]
  Output indices;      ///< [n] int32 or int64
  Output dense_shape;  ///< [rank] int32: the shape of the whole
};

/// None, dense, or sparse.
using Gradient = std::variant<std::monostate, Output, IndexedSlices>;

/// What the gradient function of an op sees: the forward node and the gradients of its outputs; and where it puts its answers.
class GradientContext {
 public:
  GradientContext(Scope scope, const Node& node, std::vector<Gradient> output_gradients);

  const Scope& scope() const { return scope_; }
  const Node& node() const { return scope_.graph().node(node_); }
  Output input(size_t i) const { return node().inputs[i]; }
  Output output(size_t i) const { return {node_, static_cast<uint32_t>(i)}; }
  template <class T>
  T attr(std::string_view name) const {
    return node().attrs.get<T>(name);  // by value: the graph grows while gradients are built
  }

  bool has_gradient(size_t output) const;
  /// The gradient of an output, dense; zeros when nothing flows back through it.
  Output gradient(size_t output = 0) const;
  const Gradient& raw_gradient(size_t output) const { return output_gradients_[output]; }

  /// Inputs never set get no gradient.
  void set(size_t input, Output gradient);
  void set(size_t input, const IndexedSlices& gradient);
  std::vector<Gradient> take() &&;

 private:
  Scope scope_;
  NodeId node_;
  std::vector<Gradient> output_gradients_, input_gradients_;
};

/// d(sum of ys)/dx for each x, added to the graph; none where x does not reach any y. `grad_ys`, when given, are as many as ys
/// (an Output, or nothing for ones). Several contributions are summed by AddN in a fixed order; slices are concatenated.
/// Throws Error(Unimplemented) naming an op on the path without gradient, InvalidArgument for an integer y.
std::vector<Gradient> gradients(const Scope& scope, const std::vector<Output>& ys,
                                const std::vector<Output>& xs, const std::vector<Gradient>& grad_ys = {});

/// The dense form, as in dense(g, gradients(g, {y}, {x})[0], x): UnsortedSegmentSum of slices; zeros like `x` for none.
Output dense(const Scope& scope, const Gradient& gradient, Output x);

}  // namespace troupe
#pragma GCC visibility pop
