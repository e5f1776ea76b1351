// Barrier spec: what a barrier is made of, as the node that yields its handle says. A plain value.
#pragma once

#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

struct BarrierSpec {
  std::string name;           ///< the name of its state
  std::vector<DType> types;   ///< the dtypes of the components of an element
  std::vector<Shape> shapes;  ///< their shapes

  /// Returns "component types (float, int32), component shapes ([2], [])", for example.
  std::string text() const;
  friend bool operator==(const BarrierSpec&, const BarrierSpec&) = default;
};

/// Returns the spec of a Barrier. Fails with InvalidArgument unless each component has a known shape with elements, and the
/// capacity is -1.
Result<BarrierSpec> barrier_spec(const Node& handle);

}  // namespace troupe
