// The state of a run as lines of text, for `troupe status` and `troupe top`. A pure function.
#pragma once

#include <string>
#include <vector>

#include "messages/values/json_text.h"

namespace troupe::observe {

/// `state` is what state_of_run() returns. What it lacks is left out.
std::vector<std::string> status_lines(const nlohmann::ordered_json& state);

}  // namespace troupe::observe
