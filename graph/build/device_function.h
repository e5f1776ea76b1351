// Device functions: a scope with one asks it for the device of each new node (features.md H3). replica_devices() is the function
// for data parallelism: variables go to parameter servers, everything else to a worker. Public header; a device function is called
// by the thread that adds the node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/build/graph.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Returns the device to request for a node that is about to be added to `graph`. `node.device` is what the scopes inside of the
/// one with the function request, and the result replaces it: a function that respects them returns a name with their components.
/// What the result leaves open comes from the scopes around.
using DeviceFunction = std::function<std::string(const Graph& graph, const NodeSpec& node)>;

/// Returns the task of the parameter servers that gets a variable, from 0 on.
using TaskChoice = std::function<int64_t(const NodeSpec& variable)>;
/// The tasks in turn. Throws InvalidArgument unless `tasks` is positive.
TaskChoice in_turn(int64_t tasks);
/// The task with the fewest bytes so far, of several the first one. Throws InvalidArgument unless `tasks` is positive; the choice
/// throws it for a variable whose shape is not fully known.
TaskChoice by_bytes(int64_t tasks);

struct ReplicaDevices {
  int64_t ps_tasks = 0;  ///< the number of parameter servers; 0: variables go to the worker, too
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  TaskChoice choice = {};  ///< null: in_turn(ps_tasks)
  /// The ops whose nodes go to the parameter servers.
  std::vector<std::string> ps_ops = {"Variable",
                                     "VariableV2",
                                     "VarHandleOp",
                                     "HashTable",
                                     "HashTableV2",
                                     "MutableHashTable",
                                     "MutableHashTableV2",
                                     "MutableHashTableOfTensors",
                                     "MutableHashTableOfTensorsV2",
                                     "MutableDenseHashTable",
                                     "MutableDenseHashTableV2"};
};
/// Returns a function that requests `ps_device` with a task for the nodes of `ps_ops`, for nodes that read or change such a node's
/// reference or resource the device of that node, and `worker_device` for all others. Components that scopes inside request win;
/// a variable with a task of its own, or with another job, is not counted among those of the servers. Throws InvalidArgument if
/// `ps_tasks` is negative or a device name cannot be parsed.
DeviceFunction replica_devices(ReplicaDevices options);

}  // namespace troupe
#pragma GCC visibility pop
