// NodeServices: how an application adds actors of its own to the nodes of a cluster, and reaches those of other nodes. Such an actor has a
// role with a name ("trainer"), at most once on a node; its address is the task of the node and the role. A node starts its services before
// it joins the cluster, so that whoever is linked to the node finds them. Owned by the Runtime; any thread. Public header: std and our own
// types. The actor itself is a Role (actors/engine/role.h) with a schema of its own, which are part of the sources.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/engine/requests.h"
#include "messages/values/address.h"

#pragma GCC visibility push(default)
namespace troupe {

class Disk;
class Role;

class NodeServices {
 public:
  virtual ~NodeServices() = default;

  /// The task of this node, the first one if it has several: "/job:worker/replica:0/task:0".
  virtual const std::string& task() const = 0;
  /// The address of the actor with this role on this node.
  virtual Address address(const std::string& role) const = 0;
  /// Starts an actor at address(role). AlreadyExists when there is one.
  virtual Status start(const std::string& role, std::unique_ptr<Role> actor) = 0;
  /// Ends the actor at address(role), if there is one; nobody finds it any more.
  virtual void stop(const std::string& role) = 0;

  /// The addresses of the actors with this role on the nodes that one of `tasks` names ("/job:worker"), once all these nodes are linked to
  /// this one. DeadlineExceeded after `timeout` names those that are missing.
  virtual Result<std::vector<Address>> addresses(const std::string& role, std::span<const std::string> tasks,
                                                 std::chrono::nanoseconds timeout) const = 0;
  /// The actor at an address, of this node or another. Unavailable when there is none.
  virtual Result<ActorRef> find(const Address& address) const = 0;
  virtual void send(const ActorRef& to, AnyMessage message) = 0;
  /// Sends all requests and waits for all answers. `failed` is called before the end, as soon as the first of them has failed, on the
  /// thread that answers it.
  virtual Answers call_all(std::vector<AddressedRequest> requests, RequestFailed failed = {}) = 0;
  /// The files that this node may use.
  virtual Disk& disk() const = 0;
};

}  // namespace troupe
#pragma GCC visibility pop
