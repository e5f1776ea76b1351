// Processes: those of a cluster, started from this program and ended with it. Each is a command that runs `troupe node --inherit`,
// here or by way of ssh on another machine, and reads on its standard input what it is to be. That input stays open as long as the
// node is wanted: a node whose input ends, ends. Output goes on with its task in front. One thread, but for a watcher of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/cluster/descriptor.h"
#include "apps/cluster/node.h"
#include "messages/values/status.h"

namespace troupe::cluster {

/// Where a process finds the socket that it inherits.
constexpr int listening_descriptor = 3;

struct ProcessPlan {
  NodeOptions node;
  std::vector<std::string> command;  ///< the program is looked for in PATH
  std::string host = {};  ///< the other machine on which the command runs the node; empty: on this one
  Descriptor listening =
      Descriptor();  ///< what it inherits as listening_descriptor; none: it listens by itself
};

/// A cluster as the program that starts it sees it, which is no member but a client, and the owner of its nodes.
struct ClusterPlan {
  ClusterSpec spec;
  std::vector<ProcessPlan> processes;
};

/// How many threads each of so many processes of a machine has, at least one; 0 in all: as many as this machine has cores.
size_t share_of(size_t threads, size_t processes);

constexpr const char* owner_job = "client";
/// "/job:client/replica:0/task:0".
std::string owner_task();

class Processes {
 public:
  /// What a process prints, one line at a time, and how it ended; any thread.
  using Line = std::function<void(const std::string&)>;

  /// Starts them. Unavailable when the system refuses; then none is left.
  static Result<std::unique_ptr<Processes>> start(std::vector<ProcessPlan> plans, Line line);
  /// Ends them: asked to, and killed after a second.
  ~Processes();

  /// The first process that ended by itself since the start or the last restart, and how; empty when none does within the time.
  std::string first_loss(std::chrono::milliseconds within) const;
  /// Starts anew what has ended by itself, and what is one of `silent`, which is ended before: a process may be there and not
  /// answer. Unavailable when the system refuses.
  Status restart(const std::vector<std::string>& silent);

 private:
  struct Impl;
  explicit Processes(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::cluster
