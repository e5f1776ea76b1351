// Runs golden cases: each step in turn, whatever came of those before, compared with what TensorFlow answered. Functions without
// state; a case is run once.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "actors/step/session.h"
#include "apps/golden/golden_case.h"

namespace troupe::golden {

/// How the steps that did not pass failed, in order: "step 2: y:0: [1,0] is 3, expected 4; ...". `open` makes the session, over a
/// graph to which the gradients have been added by then.
std::vector<std::string> run_case(Case& golden, const std::function<Session(const Graph&)>& open,
                                  std::chrono::nanoseconds step_timeout);

}  // namespace troupe::golden
