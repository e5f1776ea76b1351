// AbsentNodes: nodes that were in a graph's file but are not in the graph, because their ops are unknown or they need
// such nodes. The graph keeps their names, so that a request for one of them fails with the reason. A plain value.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

class AbsentNodes {
 public:
  struct Node {
    std::string op;
    std::vector<std::string> unknown_ops;  ///< its own op, or ops of functions that it calls
    std::vector<std::string> needs;        ///< the absent nodes among its inputs and control inputs
  };

  void add(std::string name, Node node) { nodes_.emplace(std::move(name), std::move(node)); }
  bool empty() const { return nodes_.empty(); }
  const std::map<std::string, Node, std::less<>>& nodes() const { return nodes_; }
  bool contains(std::string_view name) const { return nodes_.contains(name); }

  /// Returns why an absent node is absent: Unimplemented "there are no such ops:
  /// Alpha, Zeta", with the unknown ops of this node and of all nodes that it needs.
  Status why(std::string_view name) const;
  /// Returns the same for all absent nodes together, or Ok if there are none.
  Status why() const;

 private:
  /// Adds the unknown ops of this node and of all nodes that it needs.
  void collect(std::string_view name, std::set<std::string_view>& seen,
               std::set<std::string_view>& ops) const;

  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace troupe
#pragma GCC visibility pop
