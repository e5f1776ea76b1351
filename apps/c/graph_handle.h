// The handle of a graph in the C interface, which a session shares. Not installed.
#pragma once

#include <memory>

#include "actors/runtime.h"
#include "apps/c/graph.h"
#include "graph/build/graph.h"

namespace troupe::c {

struct SharedGraph {
  std::shared_ptr<Runtime> runtime;
  Graph graph;
};

inline Output output_of(troupe_output output) { return {output.node, output.index, output.graph}; }
inline troupe_output output_of(Output output) { return {output.node, output.index, output.graph}; }
std::vector<Output> outputs_of(const troupe_output* outputs, size_t count, const char* what);

}  // namespace troupe::c

struct troupe_graph {
  std::shared_ptr<troupe::c::SharedGraph> shared;
};
