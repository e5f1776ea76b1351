// Subgraph: the part of a graph that one kind of step runs (features.md C2-C5; white paper, section 4.2):
// first of the master's passes. Feeds are cut in as _Arg nodes, fetches out as _Retval nodes, then whatever
// neither a fetch nor a target reaches is left out. Linear in the size of the graph. Plain values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// What a step is asked for. Steps with equal signatures run the same subgraph.
struct RunSignature {
  std::vector<Output> feeds;    ///< replaced by the caller's tensors: feed i is argument i
  std::vector<Output> fetches;  ///< returned: fetch j is result j; repeats are allowed
  std::vector<NodeId> targets;  ///< run for their effect
};

/// Names ("node:k", "node" for its first output; of targets "node") as a signature. NotFound with the nearest
/// name.
Result<RunSignature> resolve_signature(const Graph& graph, std::span<const std::string> feeds,
                                       std::span<const std::string> fetches,
                                       std::span<const std::string> targets);

inline constexpr NodeId no_node = UINT32_MAX;

struct Subgraph {
  Graph graph;
  std::vector<NodeId> origin;  ///< per node: which it was in the whole graph; no_node for _Arg and _Retval
  std::vector<NodeId> roots;   ///< the targets and the _Retval nodes: what everything else is there for
};

/// Any edge may be fed: its consumers then read _Arg, and whoever waited for a fed Placeholder waits for
/// that. Feeds that nothing reads have no _Arg. InvalidArgument when there is nothing to fetch or run, for a
/// tensor fed twice or fed and fetched, for the fetch of something that is no tensor, and when the consumer
/// of a fed variable needs the variable itself.
Result<Subgraph> cut_subgraph(const Graph& graph, const RunSignature& signature);

}  // namespace troupe
