// Runs golden cases. All steps run in order, even after a step has failed, and each is compared with TensorFlow's results. A
// function without state.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "actors/step/session.h"
#include "apps/golden/golden_case.h"

namespace troupe::golden {

/// Adds the requested gradients to the graph of the case, which is why a case runs only once, opens a session for it by calling
/// `open`, and runs the steps. Returns how steps failed, in order: "step 2: y:0: [1,0] is 3, expected 4; ...".
std::vector<std::string> run_case(Case& golden, const std::function<Session(const Graph&)>& open,
                                  std::chrono::nanoseconds step_timeout);

}  // namespace troupe::golden
