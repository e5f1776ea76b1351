// Between a Graph and its wire form (messages/schemas/graph.capnp). write() appends the tensors of attributes to `attachments`; read()
// trusts nothing: whatever a peer may have written, the result passed the same checks as any graph, or is InvalidArgument.
#pragma once

#include <vector>

#include "graph/build/graph.h"
#include "messages/schemas/graph.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

/// Nodes [first, size()) and, when first is 0, the functions.
void write(const Graph& graph, NodeId first, wire::Graph::Builder builder, std::vector<Tensor>& attachments);

/// Adds the nodes to `graph`, which must have firstNode of them. On failure some may have been added: work on a copy.
Status read_into(Graph& graph, wire::Graph::Reader reader, const AnyMessage& message);

}  // namespace troupe
