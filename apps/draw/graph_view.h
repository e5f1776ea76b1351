// GraphView: what a reader wants to see of a graph: its nodes without constants, initialisers and optimizer state, each in the
// scope to which it belongs. Computed once; a view of the graph, which must outlive it. One thread.
#pragma once

#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe::draw {

struct ViewOptions {
  /// The outputs for whose sake the graph exists; what they do not need is left out. Empty: all of the graph is seen.
  std::vector<Output> results = {};
  bool gradients = false;  ///< also shows gradients, updates and the state of optimizers
};

using Path = std::vector<std::string>;  ///< the parts of a scope's name, the outermost first

class GraphView {
 public:
  enum class Kind : uint8_t { Op, Input, Variable, Result, Gradient };
  struct Seen {
    NodeId node = 0;
    Kind kind = Kind::Op;
    Path scope;                  ///< the scope in which the node is drawn
    std::string label;           ///< its name inside this scope
    std::vector<Output> inputs;  ///< outputs of seen nodes
  };

  GraphView(const Graph& graph, const ViewOptions& options);

  const Graph& graph() const { return graph_; }
  const std::vector<Seen>& nodes() const { return nodes_; }

 private:
  void take_nodes(const ViewOptions& options);
  /// Follows an output back through nodes that only pass a value on.
  Output source_of(Output output) const;
  void place_in_scopes();
  void move_variables_to_users();
  void leave_small_scopes();

  const Graph& graph_;
  std::vector<bool> hidden_, passes_on_;  ///< by node
  std::vector<Seen> nodes_;
};

/// Returns "a/b" as {"a", "b"}.
Path path_of(std::string_view name);
/// Returns whether a path begins with all parts of another.
bool is_within(const Path& path, const Path& scope);

}  // namespace troupe::draw
