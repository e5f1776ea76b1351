// Local port: whether a node of this machine could listen at an endpoint. A function without state; any thread that may block.
#pragma once

#include <string>

#include "messages/values/status.h"

namespace troupe::cluster {

/// Tries to bind a socket to an endpoint, "HOST:PORT", and closes it again. Returns 0, or the error of the system: EADDRINUSE if
/// the port is taken, EADDRNOTAVAIL if the host is another machine. Fails with NotFound if the host has no address.
Result<int> error_of_binding(const std::string& endpoint);

}  // namespace troupe::cluster
