// Node services: actors that applications run on every node of a cluster, in addition to its devices and the actors of steps. Each
// is a pair of files in this folder and a line in all_node_services.cpp. The program of a node starts them before the node joins
// its cluster and ends them before the runtime. One thread.
#pragma once

#include <memory>
#include <vector>

#include "actors/runtime.h"

namespace troupe::services {

/// A running service. The destructor ends it.
class NodeService {
 public:
  virtual ~NodeService() = default;
};

/// Starts every service on this node. Throws Error.
std::vector<std::unique_ptr<NodeService>> start_node_services(Runtime& runtime);

}  // namespace troupe::services
