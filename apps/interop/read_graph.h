// Graphs as TensorFlow writes them, GraphDef and MetaGraphDef, read into a Graph (features.md B1, B10, B11). Functions are put in
// place where they are called; what is read has passed the checks of any graph. Whatever the bytes are, the answer is a graph or
// a Status that names the node: nothing is trusted. Functions without state.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/interop/graph_limits.h"
#include "apps/interop/meta_graph.h"
#include "messages/env/disk.h"

namespace troupe::interop {

/// The version of TensorFlow's graphs that is understood (that of 2.21).
inline constexpr int consumer_version = 2474;

/// Binary or text, whichever it is. Nodes whose ops are missing in the table, and what needs them, are left out: whoever asks for
/// one is told so (Graph::absent). InvalidArgument or AlreadyExists for what is wrong in the file, with node, op and attribute;
/// ResourceExhausted naming the limit passed.
Result<Graph> read_graph_def(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                             const GraphLimits& limits = {});

/// The same. A saver whose nodes are left out is left out, too: variables get their values by apps/interop/bundle.h.
Result<MetaGraph> read_meta_graph(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                                  const GraphLimits& limits = {});

/// The graph of a file: a MetaGraphDef when it is called *.meta, else a GraphDef. Fails as these and Disk do.
Result<Graph> read_graph_file(Disk& disk, const std::string& file, std::shared_ptr<const OpTable> ops);

}  // namespace troupe::interop
