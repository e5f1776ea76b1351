// Variables for the builder: a VariableV2 with the Assign that gives it its first value. Which ones there are is read from the
// graph itself (internal attributes _trainable and _initializer), so that nothing but the graph has to be handed around. Throws
// Error like the builder. One thread at a time per graph.
//
//   auto w = variable(g, zeros(g, {784, 10}), "w");
//   session.run({initializer(g)});                    // once, before the first step that reads w
#pragma once

#include <string_view>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A variable called `name` that begins as `initial`, whose shape must be fully known. Not trainable: no optimizer changes it.
Output variable(const Scope& scope, Output initial, std::string_view name, bool trainable = true);

/// Every variable of the graph, in the order made.
std::vector<Output> variables(const Graph& graph);
/// Those that optimizers change.
std::vector<Output> trainable_variables(const Graph& graph);

/// A target that gives every variable made so far its first value; made last, since optimizers make variables, too.
Output initializer(const Scope& scope);

}  // namespace troupe
#pragma GCC visibility pop
