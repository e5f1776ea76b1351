// Variables of a model, built from the public builder alone: a VariableV2 with the Assign that gives it its first value. Which
// ones there are is read from the graph itself (internal attributes _trainable and _initializer), so that nothing but the graph
// has to be handed around. Throws Error like the builder. Public header.
#pragma once

#include <string_view>
#include <vector>

#include "graph/scope.h"

namespace troupe::nn {

/// A variable called `name` that begins as `initial`, whose shape must be fully known. Not trainable: no optimizer changes it.
Output variable(const Scope& scope, Output initial, std::string_view name, bool trainable = true);

/// Every variable of the graph, in the order made.
std::vector<Output> variables(const Graph& graph);
/// Those that optimizers change.
std::vector<Output> trainable_variables(const Graph& graph);

/// A target that gives every variable made so far its first value.
Output initializer(const Scope& scope);

}  // namespace troupe::nn
