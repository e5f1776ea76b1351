// A node: one process of a cluster, with its devices and nothing to do of its own: it serves masters elsewhere until it is told to
// end, or whoever owns it is gone. What `troupe node` runs.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "actors/net/cluster.h"
#include "actors/runtime.h"
#include "messages/values/status.h"

namespace troupe::cluster {

struct NodeOptions {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  int devices = 1;
  size_t threads = 0;              ///< 0: as many as the machine has cores
  size_t memory = 0;               ///< see RuntimeOptions; 0: the default, shared with the neighbours
  size_t neighbours = 1;           ///< so many processes share the memory of its machine, itself included
  std::string listen;              ///< see RuntimeOptions
  std::vector<std::string> roots;  ///< see RuntimeOptions
  std::chrono::nanoseconds heartbeat = RuntimeOptions().heartbeat;
  /// The task without which this node ends: not linked for five heartbeats, or never within 60 s; empty: none.
  std::string owner;
};

/// What happens to a node: "linked", "lost" or "refused" for good, and which other task of the cluster, and why.
using NodeEvent = std::function<void(const std::string& event, const std::string& text)>;

/// One line of JSON that says so: {"time": seconds since 1970, "task": ..., "event": ..., "text": ...}.
std::string event_json(const std::string& task, const std::string& event, const std::string& text);

/// Returns Ok when `stopped`, which is asked ten times a second, Unavailable when the owner is gone, and otherwise why the node cannot
/// go on. Tells `event`, on this thread, unless it is empty.
Status run_node(const NodeOptions& options, const std::function<bool()>& stopped,
                const NodeEvent& event = {});

/// How a process hands its child what it is to be, other than on the command line, which everybody can read: one line.
Result<std::string> to_text(const NodeOptions& options);
Result<NodeOptions> read_node_options(const std::string& text);

}  // namespace troupe::cluster
