// A run as those find it who watch it from another process: in its folder, at the socket there (run_server.h) or, when it has
// ended, by its result. Functions that read files and block; any thread.
#pragma once

#include <atomic>
#include <string>

#include "messages/values/json_text.h"
#include "messages/values/status.h"

namespace troupe::observe {

/// Returns the folder of a run: `path` itself, or the newest run in it. Fails with NotFound if it is neither.
Result<std::string> find_run(const std::string& path);

/// Asks a run that trains: "GET" "/status", or "POST" "/ctl/pause". Fails with NotFound if no training runs in the folder, and says
/// how the last one ended; with FailedPrecondition if the run refuses; with DeadlineExceeded if the run does not say its state
/// within 5 seconds, which is asked first, or does not do what it is told within 10 minutes; otherwise as http::ask() does.
Result<nlohmann::ordered_json> ask_run(const std::string& folder, const std::string& method,
                                       const std::string& target, const std::atomic<bool>* stop = nullptr);

/// Returns the state of a run: what ask_run() says or, when it has ended, its result, with {"phase": "ended"} in front. Fails with
/// NotFound if it has neither.
Result<nlohmann::ordered_json> state_of_run(const std::string& folder);

}  // namespace troupe::observe
