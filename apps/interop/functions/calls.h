// Calls: replaces a node that calls functions of the file by the nodes of these functions. A plain call becomes the nodes of its
// function, an If or Case becomes Switches and Merges, a While, For or MapDefun becomes a loop, and a SymbolicGradient becomes the
// nodes of the function and of its gradients. A function that calls itself is called when the step runs. A function without state;
// used by one import.
#pragma once

#include "apps/interop/importer.h"

namespace troupe::interop {

struct PlacedCall {
  Outputs outputs;
  /// The node that runs after everything that the call does. It has the name of the call. If the call has one output, it yields it.
  NodeId done = 0;
  bool has_effects = false;
};

/// Builds the functions that are called when steps run, and adds them to the importer's graph.
Status build_called_functions(Importer& importer);
/// Adds those that are built to the importer's graph.
Status add_called_functions(Importer& importer);

/// Adds the nodes of a call. `spec` holds the name, inputs, control inputs and device of the call. Fails with InvalidArgument if
/// the arguments do not match the function.
Result<PlacedCall> place_call(Importer& importer, const NodeDef& node, NodeSpec spec, const Site& site);

}  // namespace troupe::interop
