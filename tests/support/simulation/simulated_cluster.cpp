#include "tests/support/simulation/simulated_cluster.h"

#include <optional>

#include "actors/net/peers.h"
#include "actors/runtime_impl.h"
#include "actors/step/session_impl.h"
#include "messages/values/device_name.h"
#include "tests/support/simulation/simulated_client.h"
#include "tests/support/simulation/simulated_node.h"
#include "tests/support/simulation/simulated_process.h"

namespace troupe::test {

/// Everything that a node has from its start to its end.
struct SimulatedCluster::Life {
  Life(SimulatedCluster& cluster, Machine& machine)
      : network(cluster.network_.join(machine.task)),
        node(cluster.simulation_, *machine.disk, network.get(), cluster.random_id()),
        task(node.add_task(machine.task, cluster.random_id())) {
    node.actors.heartbeat = cluster.heartbeat_;
    cluster.network_.set_number(machine.task, node.host.number());
  }

  std::unique_ptr<Network> network;
  SimulatedNode node;
  const TaskSites& task;
  std::optional<Peers> peers;  ///< unless the node is a runtime
  std::optional<SimulatedProcess> process;
  Runtime* runtime = nullptr;             ///< made by `main`; null until then
  std::unique_ptr<SimulatedClient> main;  ///< if the node is a runtime
  std::vector<std::unique_ptr<SimulatedClient>> clients;
};

SimulatedCluster::SimulatedCluster(uint64_t seed, const std::vector<std::string>& tasks, int64_t heartbeat,
                                   Links links)
    : SimulatedCluster(seed, tasks, heartbeat, std::move(links), {}) {}

SimulatedCluster::SimulatedCluster(uint64_t seed, const std::vector<std::string>& tasks, Main main)
    : SimulatedCluster(seed, tasks, NodeIdentity().heartbeat, {}, std::move(main)) {}

SimulatedCluster::SimulatedCluster(uint64_t seed, const std::vector<std::string>& tasks, int64_t heartbeat,
                                   Links links, Main main)
    : heartbeat_(heartbeat), links_(std::move(links)), main_(std::move(main)), simulation_(seed),
      network_(simulation_) {
  for (const auto& task : tasks)
    machines_.push_back({task, std::make_unique<SimulatedDisk>(random_id()), nullptr});
  for (size_t machine = 0; machine < size(); ++machine) start(machine);
}

SimulatedCluster::~SimulatedCluster() {
  for (size_t machine = 0; machine < size(); ++machine)
    if (up(machine)) crash(machine, false);
  simulation_.run_ready();  // because jobs own what they run
}

ActorNode& SimulatedCluster::node(size_t machine) { return machines_[machine].life->node.actors; }
SimulatedDisk& SimulatedCluster::disk(size_t machine) { return *machines_[machine].disk; }
StateTable& SimulatedCluster::state(size_t machine) { return *machines_[machine].life->task.state; }
bool SimulatedCluster::up(size_t machine) const { return machines_[machine].life != nullptr; }

void SimulatedCluster::start(size_t machine) {
  Machine& self = machines_[machine];
  if (self.disk->crashed()) self.disk->restart();
  self.life = std::make_unique<Life>(*this, self);
  main_ ? start_process(machine) : start_peers(machine);
}

void SimulatedCluster::start_peers(size_t machine) {
  Life& life = *machines_[machine].life;
  const std::string& task = machines_[machine].task;
  Peers& peers = life.peers.emplace(
      life.node.actors, PeersOptions{.self = {"simulated", task, life.task.incarnation, heartbeat_}});
  throw_if_failed(peers.listen(task).status());
  for (size_t other = 0; other < machine; ++other)
    if (!links_ || links_(machine, other)) peers.connect(machines_[other].task, machines_[other].task);
}

void SimulatedCluster::start_process(size_t machine) {
  Life& life = *machines_[machine].life;
  RuntimeOptions options;
  options.heartbeat = std::chrono::nanoseconds(heartbeat_);
  options.cluster.emplace().name = "simulated";
  for (const Machine& member : machines_) {
    const DeviceName name = value_or_throw(DeviceName::parse(member.task));
    if (name.job != "client") options.cluster->jobs[name.job][name.task] = member.task;
  }
  const DeviceName self = value_or_throw(DeviceName::parse(machines_[machine].task));
  options.tasks = {{.job = self.job, .task = self.task}};
  life.process.emplace(simulation_, life.node.host);
  life.main = std::make_unique<SimulatedClient>(
      simulation_,
      [this, machine, &life, options] {
        Runtime runtime(std::make_unique<Runtime::Impl>(
            options,
            Runtime::Impl::SimulatedParts{life.node.actors, life.node.tasks.front(), *life.process}));
        life.runtime = &runtime;
        main_(machine, runtime);
        await_crash(machine);
      },
      life.node.host.number());
}

void SimulatedCluster::crash(size_t machine, bool whole_machine) {
  Machine& self = machines_[machine];
  network_.die(self.task, whole_machine);
  if (whole_machine) self.disk->crash();
  self.life->node.host.crash();
  self.life.reset();
}

bool SimulatedCluster::complete() const {
  for (size_t one = 0; one < size(); ++one)
    for (size_t other = 0; other <= one; ++other)
      if ((one == other ? !up(one) : (!links_ || links_(one, other)) && !linked(one, other))) return false;
  return true;
}

bool SimulatedCluster::linked(size_t one, size_t other) const {
  if (!up(one) || !up(other)) return false;
  if (one == other) return true;
  const Life& life = *machines_[one].life;
  const std::string& task = machines_[other].task;
  if (!life.peers && !life.runtime) return false;
  const auto incarnation =
      life.peers ? life.peers->incarnation_of(task) : life.runtime->impl().membership->incarnation_of(task);
  return incarnation.ok() && *incarnation == machines_[other].life->task.incarnation;
}

std::vector<WorkerDevices> SimulatedCluster::workers(const std::vector<size_t>& machines) const {
  std::vector<WorkerDevices> result;
  for (size_t machine = 0; machine < size(); ++machine)
    if (machines.empty() || std::ranges::count(machines, machine) != 0)
      result.push_back(worker_of(machines_[machine].life->task));
  return result;
}

Session SimulatedCluster::session(size_t machine, const Graph& graph, const std::vector<size_t>& machines,
                                  const SessionOptions& options) {
  SessionOptions shared = options;
  shared.share_state = true;
  return open_session(node(machine), machines_[machine].life->task, random_id(), graph, workers(machines),
                      shared);
}

void SimulatedCluster::start_client(size_t machine, std::function<void()> body) {
  Life& life = *machines_[machine].life;
  life.clients.push_back(
      std::make_unique<SimulatedClient>(simulation_, std::move(body), life.node.host.number()));
}

bool SimulatedCluster::clients_ended() const {
  bool ended = true;
  for (const Machine& machine : machines_) {
    if (!machine.life) continue;
    if (machine.life->main) machine.life->main->rethrow();
    for (const auto& client : machine.life->clients) {
      client->rethrow();
      ended = ended && client->ended();
    }
  }
  return ended;
}

void SimulatedCluster::sleep(size_t machine, int64_t nanoseconds) {
  SimulatedHost& host = machines_[machine].life->node.host;
  host.wait([] { return false; }, host.now() + nanoseconds);
}

void SimulatedCluster::await_crash(size_t machine) {
  machines_[machine].life->node.host.wait([] { return false; }, 0);
}

}  // namespace troupe::test
