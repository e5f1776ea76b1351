#include "graph/passes/fuse/fuse.h"

#include "graph/passes/fuse/fuse_rules.h"

namespace troupe {

Graph without_replaced(GraphDraft draft, const std::vector<bool>& needed, Graph empty,
                       std::vector<DeviceId>& device) {
  const std::vector<NodeId> new_id = draft.keep(needed);
  for (NodeId id = 0; id < new_id.size(); ++id)
    if (new_id[id] != no_node) device[new_id[id]] = device[id];
  device.resize(draft.nodes.size());
  return std::move(draft).into(std::move(empty));
}

Result<size_t> fuse(Graph& graph, std::vector<DeviceId>& device, const CanRun& can_run) {
  Graph result = graph.empty();
  TROUPE_ASSIGN(const auto order, topological_order(graph));
  GraphDraft draft{std::move(graph).release()};
  const size_t before = draft.nodes.size();
  const SymbolicShapes shapes(draft, order);
  FusedDraft fused{draft, order, device, shapes, *result.ops(), can_run, std::vector<bool>(before, true)};
  fuse_products(fused);
  fuse_elementwise(fused);
  graph = without_replaced(std::move(draft), fused.needed, std::move(result), device);
  return before - graph.size();
}

}  // namespace troupe
