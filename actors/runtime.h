// Runtime: Troupe embedded in a process: its threads, devices and actors. A runtime has one or several tasks in this process,
// or it is one task of a cluster of processes. There are no globals: two runtimes share nothing, not even variables. Its
// sessions keep what they need of it alive. Its functions may be called from any thread. Public header: it uses only std and
// Troupe's own types.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/cluster.h"
#include "actors/node_services.h"
#include "actors/site/extensions.h"
#include "actors/step/session.h"
#include "actors/step/session_options.h"
#include "messages/objects/s3_options.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A task in this process, "/job:worker/replica:0/task:1" for example, with the devices CPU:0 .. CPU:cpus-1 and GPU:0 ..
/// GPU:gpus-1.
struct TaskOptions {
  std::string job = "localhost";
  int task = 0;
  int cpus = 1;
  std::vector<int> more_cpus = {};  ///< the numbers of further devices, each once: {7} is CPU:7
  /// How many GPUs the task uses, of those that CUDA_VISIBLE_DEVICES leaves visible. all_gpus: those that the machine has, none
  /// if the program was built without CUDA.
  int gpus = all_gpus;
  static constexpr int all_gpus = -1;
  int first_gpu = 0;  ///< GPU:0 of the task is this one of those that are visible, and the others follow
};

/// Returns the numbers of a task's CPU devices.
std::vector<int> cpus_of(const TaskOptions& task);

struct RuntimeOptions {
  size_t threads = 0;  ///< the number of compute threads; 0: one per core of the machine
  /// The most bytes that tensors and the contents of strings may use, on all devices and including tensors from other nodes; at
  /// least 16 MiB. 0: 80 % of the memory of the machine, or of the cgroup or RLIMIT_AS of this process if that is less. A step
  /// that needs more fails with ResourceExhausted; the process and its other steps continue. Feeds that a client makes are not
  /// counted, nor is the memory that the program uses for anything but tensors.
  size_t memory = 0;
  std::vector<TaskOptions> tasks = {{}};
  /// The most bytes of each GPU that tensors may use; 0: an equal share of 95 % of what is free at the start.
  size_t gpu_memory = 0;
  int gpu_sharers = 1;  ///< how many processes share each GPU, including this one
  /// Whether products and convolutions of float on GPUs may round their factors to TF32, which is several times as fast and has
  /// 10 bits of mantissa.
  bool tf32 = false;
  int devices = 64;  ///< the most devices that all tasks together may have; more fail with ResourceExhausted

  /// The program's own ops, kernels and services.
  Extensions extensions = {};

  /// The folders that must contain all files that graphs and checkpoints of sessions name, also those of other processes. Empty:
  /// files may be anywhere. What this process writes itself, as export_saved_model() does, may be anywhere.
  std::vector<std::string> roots = {};
  /// The store of files whose paths begin with "s3://". Not set: there are none. `roots` limits them, too.
  std::optional<S3Options> s3 = {};

  /// If set, this process is `tasks[0]` of this cluster, or a client if the cluster has no such task. Sessions then span all
  /// tasks.
  std::optional<ClusterSpec> cluster = {};
  bool join_later = false;  ///< the process joins the cluster when join() is called, not in the constructor
  /// Where to listen: "0.0.0.0:4242", or "fd:5" for an inherited socket. Empty: at the endpoint in `cluster`.
  std::string listen = {};
  /// How often an idle link sends a heartbeat, 20 ms to 60 s. A peer counts as dead when it has been silent for five times the
  /// longer one of its own and this node's heartbeat.
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(200);
};

/// Where the master of a session lives, if not in this process.
struct MasterOptions {
  std::string endpoint;  ///< of any member of a running cluster: "a.lab:4242"
  ClusterSpec cluster;   ///< the name of that cluster and how to connect; its jobs are not used
};

class Runtime {
 public:
  /// Throws Error: InvalidArgument if the options are invalid, ResourceExhausted if there are too many devices or the system
  /// has no threads left, Unavailable if the process cannot listen at its endpoint, AlreadyExists if the endpoint is in use or
  /// an op or service of `extensions` has a name that is taken.
  explicit Runtime(const RuntimeOptions& options = {});
  /// Ends all actors and threads, as soon as the last session is destroyed.
  ~Runtime();
  /// Joins the cluster, if RuntimeOptions::join_later is set. Throws as the constructor does, and FailedPrecondition if there is no
  /// cluster to join, or it was called before.
  void join();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Returns the ops for graphs of this runtime: Graph graph{runtime.ops()}.
  std::shared_ptr<const OpTable> ops() const;
  /// Opens a session. In a cluster, waits until all tasks of the session are linked; throws DeadlineExceeded, which lists the
  /// missing tasks and the reasons, after SessionOptions::start_timeout. SessionOptions::share_state says whose the variables
  /// are. The graph may grow while the session exists, must outlive it, and may not be moved meanwhile. So a graph that ends with
  /// the expression is refused.
  Session session(const Graph& graph, const SessionOptions& options = {});
  Session session(const Graph&& graph, const SessionOptions& options = {}) = delete;
  /// Opens a session in a running cluster of which this process is no part. The member at `master.endpoint` holds the graph and
  /// runs the steps on the devices of the cluster, of which SessionOptions::tasks chooses some beside its own; this process
  /// only sends feeds and receives fetches. All clients share their variables by name and container, unless
  /// SessionOptions::share_state is false. Every session has its own connections. With TLS the certificate must name no task,
  /// or that of a client; several processes may use the same one. Throws Error within SessionOptions::start_timeout:
  /// DeadlineExceeded or Unavailable if the member cannot be reached or other tasks are missing; FailedPrecondition,
  /// PermissionDenied or InvalidArgument if one side refuses the other.
  Session connect(const Graph& graph, const MasterOptions& master, const SessionOptions& options = {});
  Session connect(const Graph&& graph, const MasterOptions& master,
                  const SessionOptions& options = {}) = delete;
  /// Drops variables, queues, tables and all other state of the nodes whose attribute `container` is one
  /// of these, on all tasks of this process and of its cluster. "localhost" and "" stand for nodes without that attribute;
  /// without `containers` all state is dropped. Every session that has used these tasks ends: its running and later steps fail
  /// with Aborted, and it must be opened again. Returns how many states were dropped. Throws DeadlineExceeded, which lists the
  /// tasks that are missing, after `timeout`.
  size_t reset(const std::vector<std::string>& containers = {},
               std::chrono::nanoseconds timeout = std::chrono::seconds(60));
  /// Does the same in the cluster of a master. Throws also as connect() does.
  size_t reset_cluster(const MasterOptions& master, const std::vector<std::string>& containers = {},
                       std::chrono::nanoseconds timeout = std::chrono::seconds(60));
  /// Returns why this process must be replaced: an actor has failed permanently, or another process has taken the place of this
  /// task. Returns Ok if there is no such reason. Sessions that use the failed actor get the same failure.
  Status status() const;
  /// Returns Ok if this process is linked to that task of the cluster, "/job:ps/replica:0/task:0", otherwise what last went
  /// wrong with the link.
  Status link_status(const std::string& task) const;
  /// Returns how this process and that task of the cluster exchange frames: "shared memory", or "TCP", with the reason if this
  /// process tried to share memory. If GPUs of that task read the memory of this process's GPUs, it is "shared memory, also that
  /// of GPUs". Empty if they are not linked.
  std::string transport_of(const std::string& task) const;
  /// Returns the full names of the devices of this process.
  std::vector<std::string> devices() const;

  /// The actors that applications add to this node.
  NodeServices& services() const;

  struct [[gnu::visibility("hidden")]] Impl;
  /// For the library and its tests only; Impl is incomplete for users of the library.
  explicit Runtime(std::unique_ptr<Impl> impl);
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace troupe
#pragma GCC visibility pop
