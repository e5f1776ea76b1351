// Writes a Graph as a GraphDef and a MetaGraph as a MetaGraphDef or a SavedModel. TensorFlow and apps/interop/read_graph.h can read
// them, and reading yields the same graph. Functions without state; any thread.
#pragma once

#include <string>

#include "apps/interop/meta_graph.h"

namespace troupe::interop {

enum class Format : uint8_t { Binary, Text };

/// Shapes that the ops do not infer are written as the attribute _output_shapes, colocation as _class. Of the functions of the
/// graph those are written that its nodes call, directly or indirectly.
std::string write_graph_def(const Graph& graph, Format format);
std::string write_meta_graph(const MetaGraph& meta, Format format);
/// Returns a SavedModel with this MetaGraph alone, in binary form.
std::string write_saved_model(const MetaGraph& meta);

}  // namespace troupe::interop
