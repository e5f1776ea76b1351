// Splitting ops over devices, a pass of the master: nodes that use a tensor that is declared to be distributed
// (graph/build/split.h) are replaced by one node for each device, wherever a rule of their op allows it (split_rules.h), and so
// on with what uses their outputs. Gradients are nodes like others, so they are split as the tensors that they use are. Where
// parts of one distribution meet a node that needs another one, exchanges are added (split_exchanges.h). If a node can be split
// in several ways, the one that exchanges the fewest bytes is taken; dimensions of unknown size count as 32. A node without a
// rule gets whole tensors, and runs where it would run otherwise. Plain values.
#pragma once

#include "graph/passes/subgraph.h"

namespace troupe {

/// Splits the ops of a subgraph. Returns the number of nodes that were replaced. Fails with InvalidArgument, naming op and
/// node, for a declaration that is malformed or does not fit its tensor, or is inside a loop, and with
/// ResourceExhausted if there would be too many nodes.
Result<size_t> split_ops(Subgraph& subgraph);

}  // namespace troupe
