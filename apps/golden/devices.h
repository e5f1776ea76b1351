// Where the nodes of a graph made for other machines run on these. Functions without state.
#pragma once

#include <string>
#include <vector>

#include "actors/runtime.h"
#include "graph/build/graph.h"

namespace troupe::golden {

/// For a runtime of one process: every task that a node asks for, with those CPUs that are asked for, and CPU:0, after "localhost".
/// ResourceExhausted when these are more than `most` devices.
Result<std::vector<TaskOptions>> tasks_of(const Graph& graph, int most = RuntimeOptions().devices);

/// Deals the jobs that are none of these tasks ("/job:ps/task:0") out to them in turn, and the nodes without a device, those that must
/// share one together.
void deal_out(Graph& graph, const std::vector<std::string>& tasks);

}  // namespace troupe::golden
