// Subgraph: the part of a graph that one kind of step runs (features.md C2-C5; white paper, section 4.2). It is
// the first of the master's passes: it inserts _Arg nodes for feeds and _Retval nodes for fetches, and leaves
// out all nodes that neither fetches nor targets need. Takes time linear in the size of the graph. Plain values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// The feeds, fetches and targets of a step. Steps with equal signatures run the same subgraph.
struct RunSignature {
  std::vector<Output> feeds;  ///< the outputs that the caller's tensors replace: feed i is argument i
  /// The outputs that the step returns: fetch j is result j; repeats are allowed.
  std::vector<Output> fetches;
  std::vector<NodeId> targets;  ///< the nodes that the step runs for their effect
  /// Whether the caller gives feeds and takes fetches while the step runs (features.md C7).
  bool partial = false;
};

/// The device that the ends of feeds and fetches of a partial run name, and the names of their edges.
inline constexpr const char* client_device = "client";
std::string feed_edge(size_t feed);
std::string fetch_edge(size_t fetch);

/// Makes a signature from names: "node:k", or "node" for its first output; for targets
/// "node". Fails with NotFound, naming the most similar node, or with InvalidArgument.
Result<RunSignature> resolve_signature(const Graph& graph, std::span<const std::string> feeds,
                                       std::span<const std::string> fetches,
                                       std::span<const std::string> targets);

inline constexpr NodeId no_node = UINT32_MAX;

struct Subgraph {
  Graph graph;
  std::vector<NodeId> origin;  ///< for each node, its id in the whole graph; no_node for _Arg and _Retval
  std::vector<NodeId> roots;   ///< the targets and the _Retval nodes, which all other nodes exist for
};

/// Cuts the subgraph of a signature. Any output may be fed: its consumers read an _Arg node in its place, and
/// nodes with a control edge from a fed Placeholder wait for the _Arg. Feeds that no node reads have no _Arg.
/// In a partial run an _Arg is a _HostRecv from, and a _Retval a _HostSend to, the client.
/// Fails with InvalidArgument if there are neither fetches nor targets, if an output is fed twice, or both fed and
/// fetched, if a fetch has no tensor, and if a consumer of a fed variable needs the reference to the variable.
Result<Subgraph> cut_subgraph(const Graph& graph, const RunSignature& signature);

/// Returns, for each feed of the signature, whether one of these of its fetches needs it.
Result<std::vector<bool>> feeds_needed(const Graph& graph, const RunSignature& signature,
                                       std::span<const uint32_t> fetches);

}  // namespace troupe
