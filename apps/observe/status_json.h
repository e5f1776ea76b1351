// A snapshot of a run as JSON, as the page, `troupe status --json` and other programs read it. A pure function.
#pragma once

#include "apps/observe/run_monitor.h"
#include "messages/values/json_text.h"

namespace troupe::observe {

/// Times are in seconds. What is not known is missing.
nlohmann::ordered_json status_json(const RunSnapshot& run);

}  // namespace troupe::observe
