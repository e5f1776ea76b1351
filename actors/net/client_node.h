// ClientNode: the node of a client that is linked to one member of a cluster and to nobody else. It has no task and no device.
// Made and destroyed on a thread that may wait; its functions may be called from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "actors/cluster.h"
#include "actors/engine/control_thread.h"
#include "actors/engine/node.h"
#include "actors/net/peers.h"

namespace troupe {

/// What a client node shares with the runtime that makes it, which outlives it.
struct ClientHost {
  ControlThread& loop;
  Pool& pool;
  Disk& disk;
  std::shared_ptr<const OpLibrary> library;
  int64_t heartbeat = 0;  ///< nanoseconds
};

class ClientNode {
 public:
  /// Opens a link to the member at `endpoint`, and tries again until `deadline` while it cannot be reached. Of `cluster` its
  /// jobs are not used. The client is task `number` of the job that its certificate names, or of job "client". Fails with
  /// DeadlineExceeded or Unavailable if the member cannot be reached, with FailedPrecondition, PermissionDenied or
  /// InvalidArgument if one side refuses the other; the error names the endpoint.
  static Result<std::unique_ptr<ClientNode>> connect(const ClientHost& host, const ClusterSpec& cluster,
                                                     const std::string& endpoint, int number,
                                                     int64_t deadline);
  ~ClientNode();
  ClientNode(const ClientNode&) = delete;
  ClientNode& operator=(const ClientNode&) = delete;

  ActorNode& actors() { return *node_; }
  /// The address of an actor of the member with this role.
  Address member_address(const std::string& role) const {
    return {member_.task, member_.incarnation, role, {}};
  }
  /// The address of this process: role and key are empty.
  Address own_address() const { return {self_.task, self_.incarnation, {}, {}}; }

 private:
  ClientNode(const ClientHost& host, NodeIdentity self);
  Status open(const ClusterSpec& cluster, const std::string& endpoint, int64_t deadline);
  Status open_link(const ClusterSpec& cluster, const std::string& endpoint, int64_t deadline);

  const ClientHost host_;
  const NodeIdentity self_;
  NodeIdentity member_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<ActorNode> node_;
  std::unique_ptr<Peers> peers_;
};

}  // namespace troupe
