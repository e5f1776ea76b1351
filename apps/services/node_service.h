// Node services: what the applications of this program add to every node of a cluster, beside devices and the actors of steps. Each
// is a file pair in this folder and a line in all_node_services.cpp. Started by the node's program before the node joins its
// cluster, and ended before the runtime; one thread.
#pragma once

#include <memory>
#include <vector>

#include "actors/runtime.h"

namespace troupe::services {

/// A running service; ends with its destructor.
class NodeService {
 public:
  virtual ~NodeService() = default;
};

/// Starts every service on this node. Throws Error.
std::vector<std::unique_ptr<NodeService>> start_node_services(Runtime& runtime);

}  // namespace troupe::services
