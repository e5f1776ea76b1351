// NodeServices: lets an application add its own actors to the nodes of a cluster, and find those of other nodes. Such an actor has
// a role with a name ("trainer"); a node has at most one actor per role, and its address consists of the node's task and the role.
// A node starts its services before it joins the cluster, so that every peer finds them. Owned by the Runtime; may be used from any
// thread. Public header: it uses only std and Troupe's own types. The actor itself is a Role (actors/engine/role.h) with its own
// schema, which are not public.
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

class Clock;
class Disk;
class Process;
class Role;

class NodeServices {
 public:
  virtual ~NodeServices() = default;

  /// The task of this node, "/job:worker/replica:0/task:0"; the first one if the node has several.
  virtual const std::string& task() const = 0;
  /// The address of the actor with this role on this node.
  virtual Address address(const std::string& role) const = 0;
  /// The address of the actor with this role on the node of another task. Fails, without waiting, with Unavailable or a permanent
  /// code if the task is not linked now.
  virtual Result<Address> address(const std::string& role, const std::string& task) const = 0;
  /// Starts an actor at address(role). Fails with AlreadyExists if there is one.
  virtual Status start(const std::string& role, std::unique_ptr<Role> actor) = 0;
  /// Removes the actor at address(role) from the directory, if there is one, and asks it to end; it may still handle a message
  /// after the call has returned.
  virtual void stop(const std::string& role) = 0;

  /// Waits until all nodes that `tasks` names ("/job:worker") are linked to this one, and returns the addresses of the actors with
  /// this role on these nodes. Fails with DeadlineExceeded, which lists the missing nodes, after `timeout`.
  virtual Result<std::vector<Address>> addresses(const std::string& role, std::span<const std::string> tasks,
                                                 std::chrono::nanoseconds timeout) const = 0;
  /// Returns the actor with this address, of this node or another. Fails with Unavailable if there is none.
  virtual Result<ActorRef> find(const Address& address) const = 0;
  /// Sends a message without waiting for an answer.
  virtual void send(const ActorRef& to, AnyMessage message) = 0;
  /// Sends a message when this time has passed.
  virtual void send_after(std::chrono::nanoseconds delay, const ActorRef& to, AnyMessage message) = 0;
  /// Sends a request. `then` is called once, with the answer or the failure, on the thread that answers.
  virtual void call(const ActorRef& to, AnyMessage request, Answer then) = 0;
  /// Sends all requests and waits for all answers. `failed` is called as soon as the first request fails, on the thread that
  /// answers it.
  virtual Answers call_all(std::vector<AddressedRequest> requests, RequestFailed failed = {}) = 0;
  /// The files that this node may use, its clock, and its threads that may block.
  virtual Disk& disk() const = 0;
  virtual Clock& clock() const = 0;
  virtual Process& process() const = 0;
};

}  // namespace troupe
#pragma GCC visibility pop
