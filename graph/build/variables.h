// Variables for the graph builder: a VariableV2 with an Assign that gives it its first value. The variables
// of a graph are found by internal attributes of its nodes (_trainable and _initializer), so only the graph
// has to be passed around. Failures throw Error, as in the graph builder. One thread at a time per graph.
//
//   auto w = variable(g, zeros(g, {784, 10}), "w");
//   session.run({initializer(g)});                    // once, before the first step that reads w
#pragma once

#include <string_view>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Adds a variable. Its first value is `initial`, whose shape must be fully known. Optimizers change it if it is trainable.
Output variable(const Scope& scope, Output initial, std::string_view name, bool trainable = true);

/// Returns all variables of the graph, in the order in which they were added.
std::vector<Output> variables(const Graph& graph);
/// Returns the variables that optimizers change.
std::vector<Output> trainable_variables(const Graph& graph);

/// Returns the value that initializer() gives a variable which variable() returned.
Output initial_value(const Graph& graph, Output variable);
/// Returns a target that gives every variable its first value. It knows the
/// variables added so far, so add optimizers, which add variables, before.
Output initializer(const Scope& scope);

}  // namespace troupe
#pragma GCC visibility pop
