// Runtime: an actor system embedded in a process: threads, devices, one or several tasks in this process, or one task of a cluster
// of processes. No globals: two runtimes share nothing, not even variables. Public header: std and our own types. Outlives its
// sessions.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/net/cluster.h"
#include "actors/node_services.h"
#include "actors/site/extensions.h"
#include "actors/step/session.h"
#include "actors/step/session_options.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A task of the cluster inside the process: "/job:worker/replica:0/task:1", with devices CPU:0 .. CPU:cpus-1.
struct TaskOptions {
  std::string job = "localhost";
  int task = 0;
  int cpus = 1;
  std::vector<int> more_cpus = {};  ///< further ones by number, each once: {7} is CPU:7
};

/// The numbers of its devices.
std::vector<int> cpus_of(const TaskOptions& task);

struct RuntimeOptions {
  size_t threads = 0;  ///< that compute; 0: as many as the machine has cores
  /// Bytes that tensors and the contents of strings may take, of all devices and of what comes from other nodes together, 16 MiB at
  /// least. 0: 80 % of what the machine, or the cgroup or RLIMIT_AS of this process where that is less, has. A step that asks for more
  /// fails with ResourceExhausted; the process and its other steps go on. Feeds that a client makes are not counted, nor is what the
  /// program needs beside tensors.
  size_t memory = 0;
  std::vector<TaskOptions> tasks = {{}};
  int devices = 64;  ///< the most that all tasks together may have: more are ResourceExhausted

  /// The program's own ops, kernels and services.
  Extensions extensions = {};

  /// Folders under which the files that sessions name must lie; none: anywhere.
  std::vector<std::string> roots = {};

  /// This process is `tasks[0]` of a cluster, or a client of it when the cluster has no such task. Sessions span all tasks.
  std::optional<ClusterSpec> cluster = {};
  bool join_later = false;  ///< others find this process only once it has called join()
  /// Where, if not at the endpoint that the cluster knows: "0.0.0.0:4242", or "fd:5", a socket inherited.
  std::string listen = {};
  /// How often links of a cluster send when they are idle, 20 ms to 60 s. A peer that was silent for five times that, or five times
  /// its own where that is longer, counts as dead.
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(200);
};

class Runtime {
 public:
  /// Throws Error(InvalidArgument) for options that make no sense, AlreadyExists for an op or service of a name that is taken, ResourceExhausted for too many devices or when the system gives no
  /// threads, Unavailable or AlreadyExists when its endpoint cannot be listened at.
  explicit Runtime(const RuntimeOptions& options = {});
  /// Ends every actor and thread. Sessions must be gone.
  ~Runtime();
  /// With RuntimeOptions::join_later, once: from now on others of the cluster reach this process. Throws what the constructor would.
  void join();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// What graphs for this runtime are made of: Graph graph{runtime.ops()}.
  std::shared_ptr<const OpTable> ops() const;
  /// A session over all tasks, once all are there; DeadlineExceeded says who is missing and why. Its variables are its own unless
  /// the options say otherwise. The graph may grow while the session lives, and must outlive it.
  Session session(const Graph& graph, const SessionOptions& options = {});
  /// Not Ok once an actor of this process has failed for good: sessions are told why, and the process is to be replaced.
  Status status() const;
  /// Ok when that task of the cluster, "/job:ps/replica:0/task:0", is linked to this one now, else what went wrong with the link last.
  Status link_status(const std::string& task) const;
  /// Full names of the devices in this process.
  std::vector<std::string> devices() const;

  /// The actors that applications add to this node.
  NodeServices& services() const;

  struct [[gnu::visibility("hidden")]] Impl;
  /// For the library itself and its tests; incomplete outside it.
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe
#pragma GCC visibility pop
