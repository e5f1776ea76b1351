// Partitioned variables: tf.get_variable with a partitioner makes variables w/part_0, w/part_1 and so on of a graph, and their slots
// w/part_0/Adam, which a checkpoint has as slices of w and w/Adam. A function without state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/interop/bundle.h"
#include "graph/ops/partial_shape.h"

namespace troupe::interop {

struct SavedAs {
  std::string name;
  std::optional<TensorSlice> slice;  ///< nothing: the whole variable
};

/// Where a checkpoint has variables of these names and shapes, by their names; those that it does not have are left out. Which slice a
/// part is follows from its number and the shapes of all parts, so all must be there; InvalidArgument, naming the variable, when
/// they are not or do not make up its shape.
Result<std::map<std::string, SavedAs>> find_saved(const std::map<std::string, PartialShape>& variables,
                                                  const Bundle& bundle);

}  // namespace troupe::interop
