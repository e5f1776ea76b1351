// Assignment of devices to the nodes of a graph that was made for other machines. Functions without state; any thread.
#pragma once

#include <string>
#include <vector>

#include "actors/runtime.h"
#include "graph/build/graph.h"

namespace troupe::golden {

/// Returns the tasks of a runtime of one process that can run the graph: the default task "localhost", then every task that a node
/// names, each with CPU:0 and the CPUs that nodes name. Fails with ResourceExhausted, naming the node, if these are more than
/// `max_devices` devices.
Result<std::vector<TaskOptions>> tasks_of(const Graph& graph, int max_devices = RuntimeOptions().devices);

/// Sets the device of every node to one of these tasks ("/job:ps/task:0"). Each task that the graph names, and each node without a
/// device, is mapped to one of `tasks` in turn. Nodes that must share a device get the same task.
void assign_tasks(Graph& graph, const std::vector<std::string>& tasks);

}  // namespace troupe::golden
