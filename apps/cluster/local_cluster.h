// LocalCluster: the processes of a cluster on this machine, started from this program and ended with it. Each gets a socket that
// listens at a free port of the loopback interface, so that all addresses are known before the first one runs; what proves
// membership is a random name that only they know. Its output goes on with its task in front. One thread, but for a watcher of its
// own.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/cluster.h"
#include "actors/runtime.h"
#include "messages/status.h"

namespace troupe::cluster {

struct LocalClusterOptions {
  std::string program;               ///< started as `program node --inherit`
  std::map<std::string, int> tasks;  ///< "ps" -> 1, "worker" -> 2
  int devices = 1;                   ///< of each task
  std::vector<std::string> roots;    ///< folders in which the processes may read and write
  size_t threads = 0;  ///< to be shared out, at least one each; 0: as many as the machine has cores
  std::chrono::nanoseconds heartbeat = RuntimeOptions().heartbeat;
  std::function<void(const std::string&)>
      line;  ///< what a process prints, one line at a time, and how it ended; any thread
};

class LocalCluster {
 public:
  /// Starts them. Unavailable or NotFound when the system refuses; then none is left.
  static Result<std::unique_ptr<LocalCluster>> start(const LocalClusterOptions& options);
  /// Ends them: asked to, and killed after a second.
  ~LocalCluster();

  /// For the process that started them, which is no member but a client, and their owner.
  const ClusterSpec& spec() const;
  static constexpr const char* owner_job = "client";
  /// The first process that ended by itself since the start or the last restart, and how; empty when none does within the time.
  std::string first_loss(std::chrono::milliseconds within) const;
  /// Starts anew what has ended by itself, and what is one of `silent`, which is killed before: a process may be there and not
  /// answer. Unavailable when the system refuses.
  Status restart(const std::vector<std::string>& silent);
  /// The process of a task; 0 when it has ended.
  int process(const std::string& job, int task) const;

 private:
  struct Impl;
  explicit LocalCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::cluster
