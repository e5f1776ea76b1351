// SimulatedNode: real actors on a host of a simulation: what a Runtime is, but that time, files and network are the test's. Its
// tasks have CPU devices. Simulation, disk and network outlive it. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/step/session.h"
#include "actors/task.h"
#include "devices/pool.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/simulation.h"

namespace troupe::test {

struct SimulatedNode {
  /// Without a network; with so many tasks, "/job:test/replica:0/task:0", ...
  explicit SimulatedNode(Simulation& simulation, Disk& disk, size_t task_count = 0,
                         size_t devices_per_task = 1);
  /// One of a cluster, without a task. `seed` as in Env.
  SimulatedNode(Simulation& simulation, Disk& disk, Network* network, uint64_t seed);

  const TaskSites& add_task(const std::string& task, uint64_t incarnation, size_t device_count = 1);
  /// Over all tasks. The graph outlives it.
  Session session(const Graph& graph, const SessionOptions& options = {});
  /// Throws when there is none.
  ActorRef find(const Address& address) { return value_or_throw(actors.directory.find(address)); }
  /// What a request is answered: nothing, as long as it is not.
  std::shared_ptr<const std::optional<Result<AnyMessage>>> ask(const ActorRef& to, AnyMessage message);

  InlinePool pool;
  SimulatedHost host;
  ActorNode actors;
  std::vector<std::shared_ptr<TaskSites>> tasks;
  uint64_t sessions = 0;  ///< opened so far
};

}  // namespace troupe::test
