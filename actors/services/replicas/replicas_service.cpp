#include "actors/services/replicas/replicas_service.h"

#include "actors/services/replicas/replicas.h"
#include "actors/services/replicas/replicas_requests.h"
#include "actors/services/replicas/rounds.h"
#include "actors/site/task_sites.h"
#include "messages/schemas/replicas.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// A node whose requests the replicas role keeps until a round has been applied.
class RoundNode : public ServedNode {
 public:
  explicit RoundNode(const ActorPlace& actor) : actor_(actor) {}

  StepReply reply(Result<AnyMessage> answer) const override { return {answer.status(), {}, false}; }
  AnyMessage cancellation(const StepInfo& step) const override {
    Draft<wire::CancelPushes> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    return draft.finish();
  }

 protected:
  ServiceCall call_with(AnyMessage message) const { return {actor_.get(), std::move(message), {}, true}; }

 private:
  const ActorPlace& actor_;
};

class PushNode final : public RoundNode {
 public:
  PushNode(const ActorPlace& actor, RuleTable& rules, ReplicatedRule rule)
      : RoundNode(actor), rules_(rules), averaged_(rule.averaged), number_(rules.add(std::move(rule.rule))) {}
  ~PushNode() override { rules_.remove(number_); }
  PushNode(const PushNode&) = delete;
  PushNode& operator=(const PushNode&) = delete;

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(auto message, push_message(request, step, number_, averaged_));
    return call_with(std::move(message));
  }

 private:
  RuleTable& rules_;
  const AveragedInputs averaged_;
  const uint64_t number_;
};

class AwaitNode final : public RoundNode {
 public:
  using RoundNode::RoundNode;
  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(auto message, await_message(request, step));
    return call_with(std::move(message));
  }
};

/// Fails if the actor ended while it applied a round: it is not known whether the rule was applied before the round was counted.
Status rounds_are_known(const ReplicasService& service) {
  if (service.committing.load() == 0) return {};
  return data_loss("a round was being applied, so the number of applied rounds is not known");
}

}  // namespace

ReplicasService& ReplicasService::of(const DeviceSite& site) {
  return static_cast<ReplicasService&>(*site.services.find(name)->second);
}

Result<std::unique_ptr<const ServedNode>> ReplicasService::prepare(const std::shared_ptr<const Graph>& graph,
                                                                   const Node& node) {
  if (!node.op->find_attr("rule")) return std::unique_ptr<const ServedNode>(new AwaitNode(actor_));
  TROUPE_ASSIGN(auto rule, prepare_replicated_rule(*graph, node, *site_.node.library, *site_.device));
  return std::unique_ptr<const ServedNode>(
      new PushNode(actor_, VariableService::of(site_).rules(), std::move(rule)));
}

std::vector<ChildSpec> ReplicasService::actors(const TaskSites& task) {
  const auto site = site_.shared_from_this();
  const Address rounds = task.address(rounds_role, site_.device->name().text());
  return {{task.address("replicas", site_.device->name().text()), [site] { return spawn_replicas(site); },
           [this, site](const ActorRef& actor, ChildSpec::Standing) { actor_.put(actor); },
           [this, site] { return rounds_are_known(*this); }},
          {rounds, [site, rounds] { return spawn_rounds(site->node, rounds); }}};
}

}  // namespace troupe
