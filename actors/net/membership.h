// Membership: makes this process a member or a client of a cluster. It listens at the endpoint of its task, keeps a link to every
// other task, knows which tasks are linked, and runs the registrar (actors/net/registrar.h). Owned by the runtime. It is made and
// destroyed on a thread that may wait; its other functions may be called from any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/cluster.h"
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
  /// Where to listen: "0.0.0.0:4242", or "fd:5" for an inherited socket. Empty: at the endpoint in `cluster`.
  std::string listen;
};

class Membership {
 public:
  /// Joins the cluster; the node must have a network. Fails with Unavailable, or with AlreadyExists if the endpoint is in use, when
  /// the process cannot listen there.
  static Result<std::unique_ptr<Membership>> join(ActorNode& node, const MembershipOptions& options);
  ~Membership();

  /// Waits until the other tasks that `wanted` names ("/job:ps"; empty: all tasks) are linked to this task and to each other, and
  /// returns their devices. Fails with DeadlineExceeded, or at once with the code of a permanent refusal; the text lists the
  /// missing tasks, their endpoints and what went wrong with each.
  Result<std::vector<WorkerDevices>> others(int64_t deadline, std::span<const std::string> wanted = {}) const;
  /// Returns the workers of the other tasks that `wanted` names, without waiting. Unless all of them are linked to this task, fails
  /// with Unavailable, or with the code of a permanent refusal; the text lists what is missing as others() does.
  Result<std::vector<Address>> linked_workers(std::span<const std::string> wanted) const;
  /// Returns the incarnation of a task that is linked now, otherwise what went wrong last.
  Result<uint64_t> incarnation_of(const std::string& task) const { return peers_->incarnation_of(task); }
  Status link_status(const std::string& task) const { return incarnation_of(task).status(); }
  /// See Peers.
  Presence presence_of(const std::string& task) const { return peers_->presence_of(task); }
  std::string transport_of(const std::string& task) const { return peers_->transport_of(task); }
  const Traffic& traffic() const { return peers_->traffic(); }
  uint64_t unsent() const { return peers_->unsent(); }

 private:
  Membership(ActorNode& node, const MembershipOptions& options);
  Status open(const MembershipOptions& options);
  Result<WorkerDevices> devices_of(const Address& worker, const AnyMessage& request, int64_t deadline) const;
  Result<std::vector<std::string>> selected(std::span<const std::string> wanted) const;
  Result<std::vector<Address>> workers_of(const std::vector<std::string>& tasks) const;
  Status missing(const std::vector<std::string>& tasks) const;
  bool is_refused(const std::string& task) const { return is_permanent(link_status(task).code()); }

  ActorNode& node_;
  const std::string self_;                     ///< the task of this process
  std::map<std::string, std::string> others_;  ///< the endpoints of the other tasks, by task
  std::unique_ptr<Peers> peers_;
  ActorRef registrar_;
};

/// Returns those of `tasks` that `wanted` names, as "/job:ps" or "/job:ps/task:1"; all if it is empty. Fails with InvalidArgument,
/// which lists the tasks, if a name includes none of them or is not the name of a task.
Result<std::vector<std::string>> named_tasks(std::span<const std::string> wanted,
                                             const std::vector<std::string>& tasks);

/// Returns the question for the devices of each of these workers (messages/schemas/worker.capnp).
AnyMessage list_devices_request(const std::vector<Address>& workers);

}  // namespace troupe
