// Accumulator spec: what an accumulator is made of, as the node that yields its handle says. A plain value.
#pragma once

#include <string>

#include "graph/build/graph.h"
#include "graph/ops/partial_shape.h"

namespace troupe {

struct AccumulatorSpec {
  std::string name;  ///< the name of its state
  DType dtype = DType::Float;
  PartialShape shape;   ///< of the gradients
  bool sparse = false;  ///< whether gradients are rows of tensors of this shape
  bool mean = true;     ///< whether takes get the mean; else the sum

  /// Returns "sparse float[?,2], mean", for example.
  std::string text() const;
  friend bool operator==(const AccumulatorSpec&, const AccumulatorSpec&) = default;
};

/// Returns the spec of a ConditionalAccumulator, ResourceConditionalAccumulator or SparseConditionalAccumulator. Fails with
/// InvalidArgument if gradients of its dtype cannot be added.
Result<AccumulatorSpec> accumulator_spec(const Node& handle);

}  // namespace troupe
