// Saves and restores variables in the graph, in TensorFlow's checkpoint format V2 (features.md O2), which its Saver reads and
// writes, too. A partitioned variable is one tensor there: parts whose rows follow each other are saved as its slices, others
// are joined first. So it may be restored in other parts, or whole. Uses only the public builder and throws Error as it does.
// Public header; one thread at a time per graph.
//
//   const Output prefix = placeholder(g, DType::String, PartialShape::scalar(), "prefix");
//   const Output save = nn::save_variables(g, prefix), restore = nn::restore_variables(g, prefix);
//   session.run({{prefix, Tensor::scalar<std::string>("model")}}, {save});
#pragma once

#include <vector>

#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Returns a target that writes the values of variables to files whose names begin with `prefix`, a string scalar. One task writes
/// all of them, that of the scope. If `variables` is empty, all variables of the graph are saved. Throws InvalidArgument if some
/// parts of a partitioned variable are missing.
Output save_variables(const Scope& scope, Output prefix, const std::vector<Output>& variables = {});
/// Returns a target that sets variables to their values in such files. The task of each variable reads it.
Output restore_variables(const Scope& scope, Output prefix, const std::vector<Output>& variables = {});

}  // namespace troupe::nn
#pragma GCC visibility pop
