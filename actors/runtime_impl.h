// The parts of a Runtime. For the library and its tests only; not installed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/engine/control_thread.h"
#include "actors/engine/node.h"
#include "actors/net/client_node.h"
#include "actors/net/membership.h"
#include "actors/runtime.h"
#include "actors/step/executor/worker.h"
#include "actors/step/step_compiler.h"
#include "messages/env/real_disk.h"
#include "messages/env/real_process.h"
#include "messages/objects/file_places.h"

namespace troupe {

struct Runtime::Impl {
  explicit Impl(const RuntimeOptions& given);
  /// What a node of a simulation has.
  struct SimulatedParts {
    ActorNode& node;
    std::shared_ptr<TaskSites> task;
    Process& process;
  };
  /// Makes a runtime of a simulated node, which is a task of options.cluster, and joins.
  Impl(const RuntimeOptions& given, const SimulatedParts& parts);
  ~Impl();

  /// Returns the workers of this process, and those of the other tasks that `wanted` names (empty: all tasks) once these are
  /// linked.
  Result<std::vector<WorkerDevices>> workers(std::chrono::nanoseconds timeout,
                                             std::span<const std::string> wanted) const;
  /// For a runtime without a cluster: fails as named_tasks() does.
  Status check_named(std::span<const std::string> wanted) const;
  /// Returns the workers of all tasks but the first of this process, of those that `wanted` names in a cluster; see OtherWorkers.
  Result<std::vector<Address>> other_workers(std::span<const std::string> wanted) const;
  /// Opens a session, as Runtime::session() does. The session keeps `owner` alive: the runtime, or nothing for a session that an
  /// actor of this runtime has, which would otherwise keep itself alive.
  Session session(const Graph& graph, const SessionOptions& wanted, std::shared_ptr<void> owner) const;
  void make_services();
  /// Links a client node to a member of another cluster. Throws as Runtime::connect does.
  std::unique_ptr<ClientNode> connect(const MasterOptions& master, int64_t deadline) const;
  void join();
  void fail(const Status& status);
  /// Returns the name under which GPU:0 of the first task exchanges tensors with other GPUs (GpuQueue::exchange_name). Fails with
  /// NotFound if there is none.
  Result<std::string> exchange_name_of_gpu() const;

  const RuntimeOptions options;
  std::mutex mutex;
  Status failure;  ///< the first failure after which the process must be replaced; guarded by `mutex`
  RealDisk files;
  FilePlaces disk;
  // Null in a simulation.
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<ControlThread> loop;
  std::unique_ptr<Network> network;
  std::unique_ptr<ActorNode> own_node;

  RealProcess own_process;
  Process* process = &own_process;
  ActorNode* node = nullptr;
  std::vector<std::shared_ptr<TaskSites>> tasks;
  std::unique_ptr<NodeServices> services;
  ActorRef session_server;                 ///< of the first task; it uses `membership`
  std::unique_ptr<Membership> membership;  ///< other threads may use it once `joined` is true
  std::atomic<bool> joined{false};         ///< the process has joined its cluster
};

std::unique_ptr<NodeServices> make_node_services(Runtime::Impl& runtime);

/// Returns how many GPUs the task uses. Fails if it wants more than there are.
Result<int> gpus_of(const TaskOptions& task);

}  // namespace troupe
