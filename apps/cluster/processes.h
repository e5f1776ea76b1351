// Processes: starts the node processes of a cluster and ends them with this program. Each process is a command that runs
// `troupe node --inherit`, on this machine or through ssh on another one, and reads the options of its node from its standard
// input. A node ends when that input is closed. The output of each process is passed on, each line with its task in front. One
// thread calls the methods; a second thread, owned by Processes, watches the children.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/cluster/node.h"
#include "messages/env/descriptor.h"
#include "messages/values/status.h"

namespace troupe::cluster {

/// The file descriptor of the socket that a process inherits.
constexpr int listening_descriptor = 3;

struct ProcessPlan {
  NodeOptions node;
  std::vector<std::string> command;  ///< the program, which is looked for in PATH, and its arguments
  std::string host = {};  ///< the other machine on which the command runs the node; empty: this machine
  /// The socket that the process inherits as listening_descriptor; none: the node opens its own.
  Descriptor listening = Descriptor();
};

/// A cluster and the processes to start for it. The program that starts them is a client of the cluster, not a member, and owns the
/// nodes.
struct ClusterPlan {
  ClusterSpec spec;
  std::vector<ProcessPlan> processes;
};

constexpr const char* owner_job = "client";
/// Returns "/job:client/replica:0/task:0".
std::string owner_task();

class Processes {
 public:
  /// Receives each line that a process prints, and a line for a process that has ended. May be called by any thread.
  using Line = std::function<void(const std::string&)>;

  /// Starts all processes. Fails with Unavailable if the system cannot start one; then the others are ended.
  static Result<std::unique_ptr<Processes>> start(std::vector<ProcessPlan> plans, Line line);
  /// Asks the processes to end, and kills those that still run after a second.
  ~Processes();

  /// Returns whether a process has ended by itself since the start or the last restart. Waits for at most `within`.
  bool has_loss(std::chrono::milliseconds within) const;
  /// Returns which of these processes is behind a failure, and how it ended: the one whose task the text of the failure names, or
  /// else the last one to end. Waits for at most `within`; returns an empty string if no process has ended by then.
  std::string loss_behind(const std::string& failure, std::chrono::milliseconds within) const;
  /// Starts again the processes that have ended by themselves and those of the tasks in `silent` (full names), which are stopped
  /// first, because a process may run without answering. Fails with Unavailable if the system cannot start one.
  Status restart(const std::vector<std::string>& silent);

 private:
  struct Impl;
  explicit Processes(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe::cluster
