// Colocation: groups of nodes that must share a device, and what they request
// together. A union-find forest, used by the placer only. One thread.
#pragma once

#include <string>
#include <vector>

#include "graph/build/graph.h"
#include "messages/values/device_name.h"

namespace troupe {

/// Returns the names whose bits are set: "CPU, GPU".
std::string text_of_types(const std::vector<std::string>& names, uint64_t types);

class Colocation {
 public:
  struct Group {
    DeviceName request;           ///< the combined request of all members
    uint64_t types = 0;           ///< bit i: all members have a kernel for device type i
    NodeId requester = 0;         ///< the member that messages name for the request
    bool fixed = false;           ///< true if a member is on the requested device already
    std::vector<NodeId> members;  ///< in the order of ids
  };

  Colocation(const Graph& graph, const std::vector<std::string>& type_names, Placement conflicts)
      : graph_(graph), type_names_(type_names), conflicts_(conflicts) {}

  /// Adds node number `group.requester` as a group of its own. Nodes must be added in the order of ids.
  void add(Group group);
  /// Joins the groups of two nodes. `reason` says why in messages. Fails with InvalidArgument at b
  /// if the requests or the device types of the groups exclude each other; the message names both.
  Status unite(NodeId a, NodeId b, const char* reason);
  /// Returns the groups in the order of their first members.
  std::vector<Group> groups() &&;

 private:
  NodeId root(NodeId node);
  Result<DeviceName> merged_request(const Group& a, const Group& b) const;

  const Graph& graph_;
  const std::vector<std::string>& type_names_;
  Placement conflicts_;
  std::vector<NodeId> parent_;
  std::vector<Group> groups_;  ///< valid for roots; groups() fills in the members
  std::vector<uint32_t> size_;
};

}  // namespace troupe
