#include "apps/inference/graph_def.h"

#include "apps/interop/read_graph.h"
#include "apps/interop/write_graph.h"

namespace troupe {

Graph read_graph_def(std::string_view bytes, std::shared_ptr<const OpTable> ops) {
  return value_or_throw(interop::read_graph_def(bytes, std::move(ops)));
}

std::string write_graph_def(const Graph& graph) {
  return interop::write_graph_def(graph, interop::Format::Binary);
}

}  // namespace troupe
