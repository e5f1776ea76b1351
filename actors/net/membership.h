// Membership: this process as a member of a cluster of processes: it listens at its endpoint, keeps a link to every other task, knows
// when they are there, and tells who wants to join (actors/net/registrar.h). Owned by the runtime; made and ended on a thread that may wait;
// any thread after that.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/net/cluster.h"
#include "actors/net/peers.h"
#include "actors/net/worker_devices.h"

namespace troupe {

struct MembershipOptions {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  uint64_t incarnation = 0;
  int64_t heartbeat = 0;                              ///< nanoseconds
  std::function<void(const Status&)> displaced = {};  ///< see PeersOptions
  std::string
      listen;  ///< where, if not at the endpoint that the cluster knows: "0.0.0.0:4242", or "fd:5", inherited
};

class Membership {
 public:
  /// The node's network must be there. Unavailable or AlreadyExists when the endpoint cannot be listened at.
  static Result<std::unique_ptr<Membership>> join(ActorNode& node, const MembershipOptions& options);
  ~Membership();

  /// The devices of the other tasks that one of `wanted` names ("/job:ps"; none: of all), once they are linked, to this one and
  /// among themselves. DeadlineExceeded, or at once the code of a refusal that is permanent, says of each that is missing where it
  /// should be and what went wrong with it.
  Result<std::vector<WorkerDevices>> others(int64_t deadline, std::span<const std::string> wanted = {}) const;
  /// Ok when that task is linked now, else what went wrong last.
  Status link_status(const std::string& task) const { return peers_->incarnation_of(task).status(); }

 private:
  Membership(ActorNode& node, const MembershipOptions& options);
  Status open(const MembershipOptions& options);
  Result<WorkerDevices> devices_of(const Address& worker, const AnyMessage& request, int64_t deadline) const;
  Result<std::vector<std::string>> selected(std::span<const std::string> wanted) const;
  Status missing(const std::vector<std::string>& tasks) const;
  bool is_refused(const std::string& task) const { return is_permanent(link_status(task).code()); }

  ActorNode& node_;
  std::map<std::string, std::string> others_;  ///< task -> endpoint
  std::unique_ptr<Peers> peers_;
  ActorRef registrar_;
};

}  // namespace troupe
