// Costs of steps as JSON.
#pragma once

#include "apps/observe/step_costs.h"
#include "messages/values/json_text.h"

namespace troupe::observe {

/// Returns {"device", "step_us", "ops": [{"op", "runs", "us", "share"}], "between_nodes_us", "waiting_us", "outside_us"}; a share
/// is that of the time of the step.
nlohmann::ordered_json costs_json(const DeviceCosts& costs);

}  // namespace troupe::observe
