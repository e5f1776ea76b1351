// The monitor of a node: tells clients what the node is and how it is linked (messages/schemas/monitor.capnp).
#pragma once

#include "apps/services/node_service.h"

namespace troupe::services {

/// The role of the actor (actors/node_services.h).
inline constexpr const char* monitor_role = "monitor";

/// Starts the monitor. Throws Error.
std::unique_ptr<NodeService> start_monitor(Runtime& runtime);

}  // namespace troupe::services
