// Calls: nodes that call functions of the file, put in place as the nodes of the functions: plain calls as they are, If as Switches
// and Merges, While as a loop. Functions without state; part of one import.
#pragma once

#include "apps/interop/importer.h"

namespace troupe::interop {

struct PlacedCall {
  Outputs outputs;
  NodeId done =
      0;  ///< runs after all that the call does; has the name of the call, and its value if it yields one only
  bool has_effects = false;
};

/// `spec`: name, inputs, control inputs and device of the call. InvalidArgument for arguments that do not fit and for a function
/// that calls itself.
Result<PlacedCall> place_call(Importer& importer, const NodeDef& node, NodeSpec spec, const Site& site);

}  // namespace troupe::interop
