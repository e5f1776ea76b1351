// Services: how ops that no kernel computes reach actors. A service carries out its ops on one device. It prepares each node once,
// when the node's partition is registered; from then on the node turns every request of a step into one message to an actor, and
// the actor's answer into the op's outputs. A new service is a folder under actors/services with its actor and its Service, a
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

/// What a request becomes: a message to an actor. Without an actor `reply` is the answer, at once.
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
  /// Called on the step's driving thread; moves the values out of `request.inputs`. A failure is the op's.
  virtual Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const = 0;
  /// The outputs that the actor's answer stands for. Any thread.
  virtual StepReply reply(Result<AnyMessage> answer) const = 0;
  /// Tells an actor that may keep a request for long that the step has ended before its time, so that it answers what it owes.
  virtual AnyMessage cancellation(const StepInfo&) const { return {}; }
};

/// A service on one device. Made when its task is made; any thread.
class Service {
 public:
  virtual ~Service() = default;
  /// A node of the graph whose op this service carries out. Its failure refuses the partition.
  virtual Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                            const Node& node) = 0;
  /// A registered partition has this node, which yields the handle of a state of this service.
  virtual Status open(const Node& /*handle*/, const std::shared_ptr<StateCell>& /*cell*/) { return {}; }
  /// The container of this state is gone.
  virtual void drop(StateCell&) {}
  /// The actor that alone changes the value of this state and answers a Read of it.
  virtual Result<ActorRef> owner(StateCell& cell) {
    return invalid_argument("'" + cell.name() + "' has no value of its own");
  }
  /// The actors that are there as long as the task.
  virtual std::vector<ChildSpec> actors(const TaskSites&) { return {}; }
};

}  // namespace troupe
#pragma GCC visibility pop
