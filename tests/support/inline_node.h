// InlineNode: the tasks of a cluster in one node, their real actors in one thread under one seed: what Runtime is, but that time
// and files are the test's. Tasks are "/job:test/replica:0/task:i", each with CPU devices. One thread.
#pragma once

#include <vector>

#include "actors/session.h"
#include "actors/worker.h"
#include "tests/support/inline_scheduler.h"
#include "tests/support/simulated_disk.h"

namespace troupe::test {

struct InlineNode {
  InlineNode(Disk& disk, size_t task_count, size_t devices_per_task = 1, uint64_t seed = 0);

  /// Over all tasks. The graph outlives it.
  Session session(const Graph& graph);
  std::vector<Address> workers() const;

  std::shared_ptr<const OpLibrary> library;
  InlineScheduler scheduler;
  InlinePool pool;
  ActorNode node;
  std::vector<std::shared_ptr<TaskSites>> tasks;
  Address coordinator;    ///< of checkpoints
  uint64_t sessions = 0;  ///< opened so far
};

}  // namespace troupe::test
