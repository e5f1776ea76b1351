// Graph wire: converts between a Graph and its wire form (messages/schemas/graph.capnp). Reading trusts nothing that a peer has
// written: the nodes pass the same checks as those of any other graph.
#pragma once

#include <vector>

#include "graph/build/graph.h"
#include "graph/build/row_slice.h"
#include "messages/schemas/graph.capnp.h"
#include "messages/schemas/tensor.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

void write(const PartialShape& shape, wire::PartialShape::Builder builder);
/// Fails with InvalidArgument if the dimensions are not those of a shape.
Result<PartialShape> read(wire::PartialShape::Reader reader);

void write(const RowSlice& slice, wire::RowSlice::Builder builder);
RowSlice read(wire::RowSlice::Reader reader);

/// Writes the nodes from number `first` on, and the functions that they call. Appends the tensors of the attributes to
/// `attachments`.
void write(const Graph& graph, NodeId first, wire::Graph::Builder builder, std::vector<Tensor>& attachments);

/// Adds the nodes to `graph`, and the functions that it lacks. Fails with Aborted if `graph` does not have `firstNode` nodes, and
/// with InvalidArgument if the message is not a valid graph. After a failure some nodes may have been added, so callers work on a
/// copy.
Status read_into(Graph& graph, wire::Graph::Reader reader, const AnyMessage& message);

/// Returns the CRC-32C of a graph in Cap'n Proto's canonical form, without the tensors of its attributes.
uint32_t digest_of(wire::Graph::Reader reader);

}  // namespace troupe
