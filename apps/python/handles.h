// What Python holds of Troupe's objects. Each handle keeps alive what it depends on: an output its graph, a graph and a session
// their runtime. A graph is changed and read only by threads that hold the global interpreter lock (GIL).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "actors/runtime.h"
#include "apps/python/forks.h"
#include "graph/build/graph.h"
#include "graph/build/scope.h"

namespace troupe::python {

struct RuntimeHandle {
  explicit RuntimeHandle(const RuntimeOptions& options) : runtime(options) {}
  /// Throws Error(FailedPrecondition) if this process was forked after the runtime was made: then it has no threads here.
  void require_threads() const {
    if (forks != forks_so_far())
      throw Error(failed_precondition(
          "this process was forked from one that used Troupe: make graphs of its own in it"));
  }
  const uint64_t forks = forks_so_far();
  Runtime runtime;
};

struct GraphHandle {
  std::shared_ptr<RuntimeHandle> runtime;
  Graph graph;
  std::vector<std::shared_ptr<const void>> functions = {};  ///< that nodes of the graph name
};
using GraphRef = std::shared_ptr<GraphHandle>;

struct OutputHandle {
  GraphRef graph;
  Output output;
  friend bool operator==(const OutputHandle& a, const OutputHandle& b) {
    return a.graph == b.graph && a.output == b.output;
  }
};

struct NodeHandle {
  GraphRef graph;
  NodeId id = 0;
  const Node& node() const { return graph->graph.node(id); }
};

struct ScopeHandle {
  GraphRef graph;
  Scope scope;
  OutputHandle handle(Output output) const { return {graph, output}; }
};

}  // namespace troupe::python
