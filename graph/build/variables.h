// Variables for the graph builder: a VariableV2 with an Assign that gives it its first value. The variables
// of a graph are found by internal attributes of its nodes (noted_attrs.h), so only the graph
// has to be passed around. Failures throw Error, as in the graph builder. One thread at a time per graph.
//
//   auto w = variable(g, zeros(g, {784, 10}), "w");
//   session.run({initializer(g)});                    // once, before the first step that reads w
#pragma once

#include <string_view>
#include <vector>

#include "graph/build/row_slice.h"
#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Adds a variable. Its first value is `initial`, whose shape must be fully known. Optimizers change it if it is trainable.
Output variable(const Scope& scope, Output initial, std::string_view name, bool trainable = true);

/// Adds a variable that is a part of a larger one. Checkpoints save and restore the parts as one variable, however it is cut.
/// Throws InvalidArgument if `initial` does not have the rows of the slice, or the larger one does not have all of them.
Output variable_part(const Scope& scope, Output initial, std::string_view name, const RowSlice& slice,
                     bool trainable = true);
/// Adds a variable of the shape of another one, to which it belongs: a slot of an optimizer, or an average. Its whole name must
/// contain that of the other one. If the other one is a part, so is the new one, of what has the name of the whole in its name.
/// Optimizers do not change it.
Output companion_variable(const Scope& scope, Output initial, std::string_view name, Output of);

/// Returns what companion_variable() makes its variable a part of; nothing if the other one is whole.
std::optional<RowSlice> companion_slice(const Scope& scope, std::string_view name, Output of);

/// Adds a variable that belongs to one process and is not saved, such as the count of epochs read: only local_initializer() gives
/// it its first value, which must be of a known shape. Optimizers do not change it.
Output local_variable(const Scope& scope, Output initial, std::string_view name);

/// Returns all variables of the graph but the local ones, in the order in which they were added.
std::vector<Output> variables(const Graph& graph);
std::vector<Output> local_variables(const Graph& graph);
/// Returns the variables that optimizers change.
std::vector<Output> trainable_variables(const Graph& graph);

/// The node that gives a variable its first value.
struct Initializer {
  NodeId node = 0;
  Output variable, value;
};
/// Returns the initializers of all variables, in the order in which they were added.
std::vector<Initializer> initializers(const Graph& graph);
/// Returns the value that initializer() gives a variable which variable() returned. Throws InvalidArgument for any other output.
Output initial_value(const Graph& graph, Output variable);
/// Returns a target that gives every variable its first value, except the local ones. It knows the
/// variables added so far, so add optimizers, which add variables, before.
Output initializer(const Scope& scope);
/// Returns a target that gives these variables their initial values, and changes no others. Throws InvalidArgument if one of them
/// has no initial value.
Output initializer(const Scope& scope, const std::vector<Output>& variables);
/// Does the same for the local variables.
Output local_initializer(const Scope& scope);
/// Returns a target that fills every table for which the graph has an op that does so.
Output tables_initializer(const Scope& scope);
/// Returns a target that does what the three functions above do.
Output full_initializer(const Scope& scope);
/// Adds nodes that yield the names of those of `variables` that have no value yet, as a vector of strings. The variables may be
/// those of a builder or of an imported graph.
Output report_uninitialized_variables(const Scope& scope, const std::vector<Output>& variables);
/// Does the same for all variables of the graph, the local ones included.
Output report_uninitialized_variables(const Scope& scope);

}  // namespace troupe
#pragma GCC visibility pop
