// Answers the requests of those who watch a run (run_server.h). Functions without state; the handlers run on the threads of an
// HttpServer.
#pragma once

#include <string>
#include <vector>

#include "apps/http/http_server.h"
#include "apps/observe/run_control.h"
#include "apps/observe/run_monitor.h"

namespace troupe::observe {

/// What a server has to offer.
struct Offer {
  bool page = false;     ///< everything but the control
  bool control = false;  ///< everything
  /// Names that requests may use for the server, beside localhost and IP addresses (apps/http/known_host.h).
  std::vector<std::string> hosts;
};

/// Monitor and control must outlive the handler.
http::HttpHandler run_handler(RunMonitor& monitor, RunControl& control, const Offer& offer);

}  // namespace troupe::observe
