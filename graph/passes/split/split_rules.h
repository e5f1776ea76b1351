// The rules by which ops are split over devices (graph/passes/split/split_ops.h): for which distributions of its inputs an op can
// be computed in parts, and how its outputs are distributed then. Pure functions, except that some parts take more than one node.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/build/scope.h"
#include "graph/passes/split/distribution.h"

namespace troupe {

/// An input of a node: how it is distributed, and the shape of the whole.
struct SplitInput {
  Distribution distribution;
  Extent extent;  ///< of Split
  PartialShape shape;

  int64_t rank() const { return static_cast<int64_t>(shape.rank()); }
  int64_t dim(int64_t i) const { return shape[static_cast<size_t>(i)]; }
};

/// One way to compute a node in parts.
struct SplitSignature {
  std::vector<Distribution> inputs;
  std::vector<Distribution> outputs;  ///< none is Whole
  /// The input whose split dimension is that of outputs which are split.
  size_t like = 0;
  /// If set, adds part `part` in its scope and returns its output. Otherwise a part is a node of the same op and attributes.
  std::function<Output(const Scope& scope, int64_t part, std::vector<Output> inputs)> make = {};
};

/// A node and its inputs. All have known ranks.
struct SplitNode {
  const Graph& graph;
  const Node& node;
  std::span<const SplitInput> inputs;
  int64_t parts = 0;

  /// Returns the elements of a constant input of integers; nothing if it is not constant.
  std::optional<std::vector<int64_t>> integers(size_t input) const;
};

/// Returns the ways to compute a node in parts of which at least one input fits as it is; none if it must be computed as a
/// whole.
std::vector<SplitSignature> split_signatures(const SplitNode& node);

// ---- The rules of some families of ops, or nothing for ops of others.
using SplitSignatures = std::optional<std::vector<SplitSignature>>;
SplitSignatures elementwise_signatures(const SplitNode& node);  ///< split_elementwise.cpp
SplitSignatures product_signatures(const SplitNode& node);      ///< split_products.cpp
SplitSignatures lookup_signatures(const SplitNode& node);       ///< split_lookups.cpp
SplitSignatures layout_signatures(const SplitNode& node);       ///< split_layouts.cpp
SplitSignatures reduction_signatures(const SplitNode& node);    ///< split_layouts.cpp

}  // namespace troupe
