// The nodes by which a graph saves and restores its own variables, whose ops Troupe does not have: its checkpoints are no part of a
// graph. A function without state.
#pragma once

#include "graph/op_table.h"
#include "messages/status.h"

namespace troupe::interop {

class GraphDef;
class SaverDef;

/// Takes the nodes whose ops are missing and all that depend on them out of the graph when all of them lie in the scope of this saver;
/// were there any? When one lies elsewhere all stay, to be refused. InvalidArgument and AlreadyExists as Body::make.
Result<bool> leave_out_saver(const SaverDef& saver, const OpTable& ops, GraphDef& def);

}  // namespace troupe::interop
