// Node: one process of a cluster, which `troupe node` runs. It has devices but starts no steps: it serves masters in other
// processes until it is told to end or its owner has ended.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/cluster.h"
#include "actors/runtime.h"
#include "apps/cluster/neighbours.h"
#include "messages/values/status.h"

namespace troupe::cluster {

struct NodeOptions {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  int devices = 1;
  size_t threads = 0;  ///< 0: an equal share of the cores of the machine
  size_t memory = 0;   ///< in bytes, see RuntimeOptions::memory; 0: an equal share of the default
  /// How many GPUs of the machine its nodes use together; all_gpus: those that it has. The node uses its share of them.
  int gpus = TaskOptions::all_gpus;
  bool tf32 = false;  ///< see RuntimeOptions::tf32
  Neighbours neighbours;
  std::string listen;                ///< see RuntimeOptions::listen
  std::vector<std::string> roots;    ///< see RuntimeOptions::roots
  std::optional<S3Options> s3 = {};  ///< see RuntimeOptions::s3
  std::chrono::nanoseconds heartbeat = RuntimeOptions().heartbeat;
  /// The full name of the task that owns this node; empty: none. The node ends when it has not been linked to its owner for five
  /// heartbeats, or was never linked within 60 s.
  std::string owner;
};

/// Receives an event of a node: "linked", "lost" or "refused" (permanently), and a text that names the other task and the reason.
using NodeEvent = std::function<void(const std::string& event, const std::string& text)>;

/// Returns an event as one line of JSON: {"time": seconds since 1970, "task": ..., "event": ..., "text": ...}.
std::string event_json(const std::string& task, const std::string& event, const std::string& text);

/// Runs a node. Returns Ok once `stopped`, which is called ten times per second, returns true; Aborted if the owner has said that
/// it ends; Unavailable if it was lost without that, or never linked; otherwise the error that ended the node. If `event` is not
/// empty, this thread calls it for each event.
Status run_node(const NodeOptions& options, const std::function<bool()>& stopped,
                const NodeEvent& event = {});

/// The options as one line of text. A process passes them to its child on the standard input, since every user of the machine can
/// read the command line.
Result<std::string> to_text(const NodeOptions& options);
Result<NodeOptions> read_node_options(const std::string& text);

}  // namespace troupe::cluster
