// Services: carry out ops through actors. A Service carries out its ops on one device. It prepares each node once, when the node's
// partition is registered. From then on the prepared node turns every request of a step into one message to an actor, and the
// actor's answer into the outputs of the op. A new service needs a folder in actors/services with its actor and its Service, a
// schema, and a line in actors/services/all_services.cpp.
#pragma once

#include <memory>
#include <vector>

#include "actors/engine/actor_ref.h"
#include "actors/supervision/child_spec.h"
#include "kernels/core/kernel.h"
#include "kernels/core/state.h"
#include "kernels/runtime/step_request.h"
#include "messages/wire/message.h"

#pragma GCC visibility push(default)
namespace troupe {

struct TaskSites;

/// What a request of a step becomes: a message to an actor or, if `actor` is null, the answer `reply` at once.
struct ServiceCall {
  ActorRef actor;
  AnyMessage message;
  StepReply reply = {};
  /// The actor may keep the request for long: it receives ServedNode::cancellation() if the step ends early.
  bool may_wait = false;
};

/// A node of a registered partition, prepared by its service. Immutable; used by many steps at once.
class ServedNode {
 public:
  virtual ~ServedNode() = default;
  /// Called on the step's driving thread. Moves the values out of `request.inputs`. If it fails, the op fails.
  virtual Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const = 0;
  /// Turns the actor's answer into the outputs of the op. Any thread.
  virtual StepReply reply(Result<AnyMessage> answer) const = 0;
  /// Returns the message that makes an actor answer all requests of a step that ends early. Called if ServiceCall::may_wait was
  /// set.
  virtual AnyMessage cancellation(const StepInfo&) const { return {}; }
};

/// A service on one device. Made when its task is made; any thread.
class Service {
 public:
  virtual ~Service() = default;
  /// Prepares a node of the graph whose op this service carries out. If it fails, the partition is refused.
  virtual Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                            const Node& node) = 0;
  /// Called when a partition is registered that contains this node, which names state of this service: it yields the state's
  /// handle, or works on the state without one (StepRequest::cell).
  virtual Status open(const Node& /*node*/, const std::shared_ptr<StateCell>& /*cell*/) { return {}; }
  /// Called when the container of this cell is dropped.
  virtual void drop(StateCell&) {}
  /// Returns the only actor that changes the value of this cell; it also answers Read.
  virtual Result<ActorRef> owner(StateCell& cell) {
    return invalid_argument("'" + cell.name() + "' has no value that could be read or changed");
  }
  /// Returns the permanent actors of the service: they exist as long as the task.
  virtual std::vector<ChildSpec> actors(const TaskSites&) { return {}; }
};

}  // namespace troupe
#pragma GCC visibility pop
