// NeededPart: the part of a graph that some of its nodes need, as a graph of its own, without requests for devices. Plain values;
// one thread.
#pragma once

#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// Returns, for each node of the graph, whether some of the outputs need it. They may be targets. Nodes of which an output is
/// `given` need nothing.
std::vector<bool> nodes_needed(const Graph& graph, const std::vector<Output>& by,
                               const std::vector<Output>& given = {});

class NeededPart {
 public:
  /// `roots` may be targets. All their nodes and what these need are kept.
  NeededPart(const Graph& graph, const std::vector<Output>& roots);

  /// Returns an output of the whole graph in the part. Its node must have been kept.
  Output moved(Output output) const { return part_.output(new_ids_[output.node], output.index); }
  Graph graph() && { return std::move(part_); }

 private:
  Graph part_;
  std::vector<NodeId> new_ids_;  ///< by the ids in the whole graph
};

}  // namespace troupe
