// SimulatedCluster: a cluster of nodes, each with its own actors, clock, network and disk, in one thread and under one
// seed. A node can crash and start again; only its disk survives. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/net/channel.h"
#include "actors/runtime.h"
#include "actors/step/session.h"
#include "actors/step/step_compiler.h"
#include "actors/task.h"
#include "tests/support/simulation/simulated_disk.h"
#include "tests/support/simulation/simulated_network.h"

namespace troupe::test {

class SimulatedCluster {
 public:
  /// Says whether two machines, by number, link to each other.
  using Links = std::function<bool(size_t one, size_t other)>;
  /// The main function of a process, a client (start_client()) that ends only with its machine.
  using Main = std::function<void(size_t machine, Runtime& runtime)>;
  /// Makes one node, with one CPU device, for each task: "/job:ps/replica:0/task:0". Without `links` every two nodes link.
  SimulatedCluster(uint64_t seed, const std::vector<std::string>& tasks,
                   int64_t heartbeat = NodeIdentity().heartbeat, Links links = {});
  /// Makes processes with runtimes, as the program is one. Those of the job "client" are no members, but clients of the cluster.
  SimulatedCluster(uint64_t seed, const std::vector<std::string>& tasks, Main main);
  ~SimulatedCluster();

  size_t size() const { return machines_.size(); }
  Simulation& simulation() { return simulation_; }
  SimulatedNetwork& network() { return network_; }
  ActorNode& node(size_t machine);
  const std::string& task(size_t machine) const { return machines_[machine].task; }
  SimulatedDisk& disk(size_t machine);
  StateTable& state(size_t machine);

  bool up(size_t machine) const;
  /// Crashes the process, or the whole machine. After a crash of the machine its peers receive
  /// nothing from it, not even a reset, and what was not synced to its disk may be lost.
  void crash(size_t machine, bool whole_machine);
  void start(size_t machine);
  /// Returns true if all nodes are up, and linked to those to which they link.
  bool complete() const;
  bool linked(size_t one, size_t other) const;

  /// Returns the devices of these machines, or of all machines if none are named, for sessions. The machines must be up.
  std::vector<WorkerDevices> workers(const std::vector<size_t>& machines = {}) const;
  /// Opens a session whose master is on that machine. It uses the devices of `machines`,
  /// or of all machines if none are named, and the state that all sessions share.
  Session session(size_t machine, const Graph& graph, const std::vector<size_t>& machines = {},
                  const SessionOptions& options = {});
  /// Starts a client, which may use sessions of that machine, and ends when the machine crashes.
  void start_client(size_t machine, std::function<void()> body);
  /// Returns true if no client, other than a main function, runs on the machines that are up. Throws what one has thrown.
  bool clients_ended() const;
  /// Call from a client: lets time pass.
  void sleep(size_t machine, int64_t nanoseconds);
  /// Call from a client: waits until the machine crashes.
  void await_crash(size_t machine);
  uint64_t random_id() { return simulation_.draw(UINT64_MAX) | 1; }

 private:
  struct Life;
  struct Machine {
    std::string task;
    std::unique_ptr<SimulatedDisk> disk;
    std::unique_ptr<Life> life;  ///< null while the machine is down
  };

  SimulatedCluster(uint64_t seed, const std::vector<std::string>& tasks, int64_t heartbeat, Links links,
                   Main main);
  void start_peers(size_t machine);
  void start_process(size_t machine);

  const int64_t heartbeat_;
  const Links links_;
  const Main main_;  ///< empty: nodes are not runtimes
  Simulation simulation_;
  SimulatedNetwork network_;
  std::vector<Machine> machines_;
};

}  // namespace troupe::test
