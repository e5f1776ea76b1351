// The rules of fuse: which nodes a single node may replace. Each works on the same draft after the one before.
#pragma once

#include <vector>

#include "graph/passes/fuse/fuse.h"
#include "graph/passes/simplify/symbolic_shapes.h"

namespace troupe {

/// The nodes while they are fused. A fused node takes the place of the last node that it replaces.
struct FusedDraft {
  GraphDraft& draft;
  const std::vector<NodeId>& order;     ///< all nodes, inputs before their consumers
  const std::vector<DeviceId>& device;  ///< of each node
  const SymbolicShapes& shapes;
  const OpTable& ops;
  const CanRun& can_run;
  std::vector<bool> needed;  ///< false for each node that a fused node has replaced
};

/// Returns the graph without the nodes that are not needed any more, and leaves the devices of the others in `device`. `empty` has
/// the ops and functions.
Graph without_replaced(GraphDraft draft, const std::vector<bool>& needed, Graph empty,
                       std::vector<DeviceId>& device);

/// Fuses products with what follows them.
void fuse_products(FusedDraft& draft);
/// Fuses elementwise ops.
void fuse_elementwise(FusedDraft& draft);

}  // namespace troupe
