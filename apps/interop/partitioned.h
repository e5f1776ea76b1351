// Partitioned variables: tf.get_variable with a partitioner creates variables w/part_0, w/part_1 and so on, and optimizers create
// their slots w/part_0/Adam. A checkpoint stores them as slices of w and w/Adam. A function without state; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/ops/partial_shape.h"
#include "messages/tensor_files/bundle.h"

namespace troupe::interop {

struct SavedAs {
  std::string name;
  std::optional<TensorSlice> slice;  ///< not set: the whole variable
};

/// Returns, by the names of the given variables, where a checkpoint has them. Variables that it does not have are left out. The
/// slice of a part follows from its number and the shapes of all parts, so all parts must be given. Fails with InvalidArgument,
/// naming the variable, if parts are missing or do not add up to its shape.
Result<std::map<std::string, SavedAs>> find_saved(const std::map<std::string, PartialShape>& variables,
                                                  const Bundle& bundle);

}  // namespace troupe::interop
