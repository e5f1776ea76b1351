// A Graph as a GraphDef, a MetaGraph as a MetaGraphDef, that TensorFlow and apps/interop/read_graph.h read: what is read again is the
// same. Functions without state.
#pragma once

#include <string>

#include "apps/interop/meta_graph.h"

namespace troupe::interop {

enum class Format : uint8_t { Binary, Text };

/// Shapes that the nodes' ops do not infer are written as attribute _output_shapes, colocation as _class. The
/// graph's own functions are left out: no op calls them.
std::string write_graph_def(const Graph& graph, Format format);
std::string write_meta_graph(const MetaGraph& meta, Format format);

}  // namespace troupe::interop
