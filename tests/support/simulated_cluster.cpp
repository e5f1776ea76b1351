#include "tests/support/simulated_cluster.h"

#include "actors/peers.h"
#include "actors/session_impl.h"
#include "tests/support/simulated_node.h"

namespace troupe::test {

/// What a node has from its start to its end.
struct SimulatedCluster::Life {
  Life(SimulatedCluster& cluster, Machine& machine)
      : network(cluster.network_.join(machine.task)),
        node(cluster.simulation_, *machine.disk, network.get(), cluster.random_id()),
        task(node.add_task(machine.task, cluster.random_id())),
        peers(node.actors,
              PeersOptions{.self = {"simulated", machine.task, task.incarnation, cluster.heartbeat_}}) {}

  std::unique_ptr<Network> network;
  SimulatedNode node;
  const TaskSites& task;
  Peers peers;
};

SimulatedCluster::SimulatedCluster(uint64_t seed, const std::vector<std::string>& tasks, int64_t heartbeat)
    : heartbeat_(heartbeat), simulation_(seed), network_(simulation_) {
  for (const auto& task : tasks)
    machines_.push_back({task, std::make_unique<SimulatedDisk>(random_id()), nullptr});
  for (size_t machine = 0; machine < size(); ++machine) start(machine);
}

SimulatedCluster::~SimulatedCluster() {
  for (size_t machine = 0; machine < size(); ++machine)
    if (up(machine)) crash(machine, false);
}

ActorNode& SimulatedCluster::node(size_t machine) { return machines_[machine].life->node.actors; }
SimulatedDisk& SimulatedCluster::disk(size_t machine) { return *machines_[machine].disk; }
StateTable& SimulatedCluster::state(size_t machine) { return *machines_[machine].life->task.state; }
bool SimulatedCluster::up(size_t machine) const { return machines_[machine].life != nullptr; }

void SimulatedCluster::start(size_t machine) {
  Machine& self = machines_[machine];
  if (self.disk->crashed()) self.disk->restart();
  self.life = std::make_unique<Life>(*this, self);
  throw_if_failed(self.life->peers.listen(self.task).status());
  for (size_t other = 0; other < machine; ++other)
    self.life->peers.connect(machines_[other].task, machines_[other].task);
}

void SimulatedCluster::crash(size_t machine, bool whole_machine) {
  Machine& self = machines_[machine];
  network_.die(self.task, whole_machine);
  if (whole_machine) self.disk->crash();
  self.life->node.host.crash();
  self.life.reset();
}

bool SimulatedCluster::complete() const {
  for (const Machine& one : machines_)
    for (const Machine& other : machines_) {
      if (!one.life || !other.life) return false;
      if (&one == &other) continue;
      const auto incarnation = one.life->peers.incarnation_of(other.task);
      if (!incarnation || *incarnation != other.life->task.incarnation) return false;
    }
  return true;
}

std::vector<WorkerDevices> SimulatedCluster::workers() const {
  std::vector<WorkerDevices> result;
  for (const Machine& machine : machines_) result.push_back(worker_of(machine.life->task));
  return result;
}

Session SimulatedCluster::session(size_t machine, const Graph& graph, const SessionOptions& options) {
  SessionOptions shared = options;
  shared.share_state = true;
  return open_session(node(machine), machines_[machine].life->task, random_id(), graph, workers(), shared);
}

}  // namespace troupe::test
