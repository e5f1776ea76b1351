// Colocation: which nodes must share a device, and what they ask for together. A union-find forest used by
// the placer alone.
#pragma once

#include <string>
#include <vector>

#include "graph/build/graph.h"
#include "messages/values/device_name.h"

namespace troupe {

/// "CPU, GPU": the names whose bits are set.
std::string text_of_types(const std::vector<std::string>& names, uint64_t types);

class Colocation {
 public:
  struct Group {
    DeviceName request;           ///< of all members together
    uint64_t types = 0;           ///< bit i: every member runs on type i
    NodeId requester = 0;         ///< the member that stands for the request in messages
    bool fixed = false;           ///< a member already is where the request says
    std::vector<NodeId> members;  ///< in order of ids
  };

  Colocation(const Graph& graph, const std::vector<std::string>& type_names, Placement conflicts)
      : graph_(graph), type_names_(type_names), conflicts_(conflicts) {}

  /// Node number `group.requester`, alone so far; nodes come in order of ids.
  void add(Group group);
  /// InvalidArgument at b, naming both requests or both sets of types, when they exclude each other;
  /// `because` completes "must share a device with a ...".
  Status unite(NodeId a, NodeId b, const char* because);
  /// In order of their first members.
  std::vector<Group> groups() &&;

 private:
  NodeId root(NodeId node);
  Result<DeviceName> merged_request(const Group& a, const Group& b) const;

  const Graph& graph_;
  const std::vector<std::string>& type_names_;
  Placement conflicts_;
  std::vector<NodeId> parent_;
  std::vector<Group> groups_;  ///< of roots; members are filled in at the end
  std::vector<uint32_t> size_;
};

}  // namespace troupe
