// The function `nn.example_feature` of run files: a feature of TensorFlow's Examples as a tensor. Throws Error, as the graph
// builder does; the thread that builds the graph calls it.
#pragma once

#include <string>

#include "graph/build/scope.h"

namespace troupe::config {

struct ExampleFeature {
  std::string name;
  std::string dtype = "float";  ///< or "int64", "string"
  int64_t size = 0;             ///< the number of values; 0: a single one, which is a scalar
};

/// Adds nodes that parse Examples, a string or a vector of them, and returns the feature: [size], or [records, size]. A step fails
/// if an Example lacks the feature, or has it with another type or number of values.
Output example_feature(const Scope& scope, Output records, const ExampleFeature& feature);

}  // namespace troupe::config
