// SimulatedNode: real actors on a host of a simulation. It is like a Runtime, but with the time, files and
// network of the test. Its tasks have CPU devices. Simulation, disk and network must outlive it. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/step/session.h"
#include "actors/task.h"
#include "devices/pool.h"
#include "tests/support/simulation/simulated_disk.h"
#include "tests/support/simulation/simulation.h"

namespace troupe::test {

struct SimulatedNode {
  /// Makes a node without a network, with this number of tasks: "/job:test/replica:0/task:0", ...
  explicit SimulatedNode(Simulation& simulation, Disk& disk, size_t task_count = 0,
                         size_t devices_per_task = 1);
  /// Makes a node of a cluster, without a task. `seed` is that of Env.
  SimulatedNode(Simulation& simulation, Disk& disk, Network* network, uint64_t seed);

  const TaskSites& add_task(const std::string& task, uint64_t incarnation, size_t device_count = 1);
  /// Opens a session over all tasks. The graph must outlive it.
  Session session(const Graph& graph, const SessionOptions& options = {});
  /// Throws if there is no such actor.
  ActorRef find(const Address& address) { return value_or_throw(actors.directory.find(address)); }
  /// Sends a request and returns a place for the reply, which holds nothing until the reply arrives.
  std::shared_ptr<const std::optional<Result<AnyMessage>>> ask(const ActorRef& to, AnyMessage message);

  InlinePool pool;
  SimulatedHost host;
  ActorNode actors;
  std::vector<std::shared_ptr<TaskSites>> tasks;
  uint64_t sessions = 0;  ///< the number of sessions opened so far
};

}  // namespace troupe::test
