// ShapeContext: the interface of an op's shape function: it reads the node and its input
// shapes, and sets the output shapes (features.md B5). Lives for one call; one thread.
#pragma once

#include <span>
#include <vector>

#include "graph/build/graph.h"

#pragma GCC visibility push(default)
namespace troupe {

class ShapeContext {
 public:
  ShapeContext(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Node& node() const { return node_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attrs.get<T>(name);
  }
  size_t inputs() const { return node_.inputs.size(); }
  const PartialShape& input(size_t i) const { return graph_.shape(node_.inputs[i]); }
  DType input_dtype(size_t i) const { return graph_.dtype(node_.inputs[i]); }
  /// Returns the node that yields an input, such as a handle, whose attributes may tell more.
  const Node& source(size_t i) const { return graph_.node(node_.inputs[i].node); }
  /// Returns the value of an input that is a constant of the graph, else null.
  const Tensor* constant(size_t i) const { return graph_.constant(node_.inputs[i]); }
  /// Returns the numbers of an int32 or int64 input that is constant, else nothing.
  std::optional<std::vector<int64_t>> constant_integers(size_t i) const;
  /// Returns the elements of an integer scalar or vector as far as they are known (graph/build/partial_values.h); unknown_dim
  /// stands for the others. Returns nothing if not even their number is known.
  std::optional<std::vector<int64_t>> partial_integers(size_t i) const;

  /// Returns the shape of an input, with this rank. Fails with InvalidArgument
  /// "a of shape [2,3] has rank 2, expected 1" if the rank is known and differs.
  Result<PartialShape> with_rank(size_t i, size_t rank) const;

  /// Outputs that are never set have an unknown shape. An output that the op does not have fails the node (status()).
  void set_output(size_t i, PartialShape shape);
  /// Returns Ok, or Internal if an output was set that the op does not have.
  const Status& status() const { return status_; }
  std::vector<PartialShape> take_outputs() &&;

 private:
  const Graph& graph_;
  const Node& node_;
  std::vector<PartialShape> outputs_;
  Status status_;
};

/// Shape functions of many ops.
Status unchanged_shape(ShapeContext& context);  ///< every output has the shape of input 0
Status scalar_shape(ShapeContext& context);     ///< every output is a scalar
Status unknown_shape(ShapeContext& context);    ///< all output shapes are unknown
Status broadcast_shape(ShapeContext& context);  ///< output 0 has the shape to which inputs 0 and 1 broadcast
Status no_output_shape(ShapeContext& context);  ///< for ops without outputs

}  // namespace troupe
#pragma GCC visibility pop
