#include "apps/inference/graph_def.h"

#include "apps/interop/collections.h"
#include "apps/interop/read_graph.h"
#include "apps/interop/start_up.h"
#include "apps/interop/write_graph.h"
#include "graph/build/queue_runner.h"

namespace troupe {

Graph read_graph_def(std::string_view bytes, std::shared_ptr<const OpTable> ops) {
  return value_or_throw(interop::read_graph_def(bytes, std::move(ops)));
}

std::string write_graph_def(const Graph& graph) {
  return interop::write_graph_def(graph, interop::Format::Binary);
}

Graph read_meta_graph(std::string_view bytes, std::shared_ptr<const OpTable> ops) {
  interop::MetaGraph meta = value_or_throw(interop::read_meta_graph(bytes, std::move(ops)));
  if (!queue_runners(meta.graph).empty()) return std::move(meta.graph);
  for (const QueueRunner& runner : value_or_throw(interop::queue_runners_of(meta)))
    add_queue_runner(Scope(meta.graph), runner);
  return std::move(meta.graph);
}

std::string write_meta_graph(const Graph& graph) {
  return interop::write_meta_graph({.graph = graph,
                                    .tags = {},
                                    .tensorflow_version = {},
                                    .saver = {},
                                    .collections = interop::collections_of(graph)},
                                   interop::Format::Binary);
}

}  // namespace troupe
