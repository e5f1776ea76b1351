// AbsentNodes: the nodes that the file of a graph has and the graph has not, because nothing here can run them: their ops are
// unknown, or they need such nodes. A graph keeps them so that asking for one is answered with the reason. A plain value.
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
    std::vector<std::string> unknown_ops;  ///< its own, or those of the functions that it calls
    std::vector<std::string> needs;        ///< the absent nodes among its inputs and control inputs
  };

  void add(std::string name, Node node) { nodes_.emplace(std::move(name), std::move(node)); }
  bool empty() const { return nodes_.empty(); }
  bool contains(std::string_view name) const { return nodes_.contains(name); }

  /// Unimplemented "there are no such ops: Alpha, Zeta": all that this node and what it needs lack. The node is absent.
  Status why(std::string_view name) const;
  /// The same for all nodes together; Ok when there are none.
  Status why() const;

 private:
  /// Adds the ops that the node and what it needs lack.
  void collect(std::string_view name, std::set<std::string_view>& seen,
               std::set<std::string_view>& ops) const;

  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace troupe
#pragma GCC visibility pop
