// Reads the graphs that TensorFlow writes, GraphDef, MetaGraphDef and SavedModel, into a Graph (features.md B1, B10, B11).
// Functions are inlined where they are called. The bytes are not trusted: the result is a graph that has passed all checks, or an
// error that names the node. Functions without state; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/interop/graph_limits.h"
#include "apps/interop/meta_graph.h"
#include "messages/env/disk.h"

namespace troupe::interop {

/// The version of TensorFlow's graph format that Troupe reads (that of TensorFlow 2.21).
inline constexpr int consumer_version = 2474;

/// Reads a GraphDef in binary or text form. Nodes whose ops are not in the table, and the nodes that need them, are left out of the
/// graph and listed in Graph::absent(). Fails with InvalidArgument or AlreadyExists, naming node, op and attribute, if the graph is
/// invalid, and with ResourceExhausted, naming the limit, if a limit is exceeded.
Result<Graph> read_graph_def(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                             const GraphLimits& limits = {});

/// Reads a MetaGraphDef, as read_graph_def() does. Its variables are known to graph/build/variables.h. A saver whose
/// nodes are left out is left out, too, and a signature is listed in MetaGraph::absent_signatures; messages/tensor_files/bundle.h
/// reads checkpoints without a saver.
Result<MetaGraph> read_meta_graph(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                                  const GraphLimits& limits = {});

/// Reads the MetaGraph of a SavedModel that has exactly these tags ("serve"), as read_meta_graph() does. Fails with NotFound,
/// listing the tags that there are, if it has none, and with DataLoss if the bytes are no SavedModel: what wrote them wrote no
/// others.
Result<MetaGraph> read_saved_model(std::string_view bytes, const std::vector<std::string>& tags,
                                   std::shared_ptr<const OpTable> ops, const GraphLimits& limits = {});

/// Returns what to append to the error about a file that is taken for a model, if `troupe export` writes such files and nothing
/// reads a model from them, which the ending of the name says (.onnx, .safetensors): what to do instead. Empty for other files.
std::string advice_on_export(const std::string& file);

/// Reads a file: a MetaGraphDef if the name ends in ".meta", otherwise a GraphDef, which has nothing beside its graph. Fails as the
/// functions above do, and with the error of the disk.
Result<MetaGraph> read_graph_file(Disk& disk, const std::string& file, std::shared_ptr<const OpTable> ops);

}  // namespace troupe::interop
