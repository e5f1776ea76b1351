#include "actors/services/allreduce/allreduce_service.h"

#include "actors/services/allreduce/allreduce.h"
#include "actors/site/scalar_input.h"
#include "actors/site/task_sites.h"
#include "messages/schemas/allreduce.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

class CollectiveNode final : public ServedNode {
 public:
  CollectiveNode(const ActorPlace& actor, Numbered<Collective>& collectives,
                 std::shared_ptr<const Collective> collective, bool weighted)
      : actor_(actor), collectives_(collectives), collective_(std::move(collective)), weighted_(weighted),
        number_(collectives.add(collective_)) {}
  ~CollectiveNode() override { collectives_.remove(number_); }
  CollectiveNode(const CollectiveNode&) = delete;
  CollectiveNode& operator=(const CollectiveNode&) = delete;

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    std::span<Slot> inputs = request.inputs;
    Draft<wire::RunCollective> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    draft->setCollective(number_);
    draft->setRound(step.training ? step.round : 0);
    if (weighted_) {
      TROUPE_ASSIGN(const int64_t samples, scalar_input<int64_t>(inputs.back(), "samples"));
      draft->setSamples(samples);
      inputs = inputs.first(inputs.size() - 1);
    }
    std::vector<Tensor> tensors;
    for (Slot& slot : inputs) tensors.push_back(std::move(slot.tensor));
    return ServiceCall{actor_.get(), draft.finish(std::move(tensors)), {}, true};
  }

  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    const auto results = answer->attachments();
    if (!collective_->sends && !collective_->shape.compatible_with(PartialShape(results[0].shape())))
      return {
          invalid_argument(collective_->member(collective_->root) + " has sent " + results[0].signature() +
                           ", but the attribute shape is " + collective_->shape.text()),
          {},
          false};
    return {{}, {results.begin(), results.end()}, false};
  }

  AnyMessage cancellation(const StepInfo& step) const override {
    Draft<wire::CancelCollectives> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    return draft.finish();
  }

 private:
  const ActorPlace& actor_;
  Numbered<Collective>& collectives_;
  const std::shared_ptr<const Collective> collective_;
  const bool weighted_;
  const uint64_t number_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> AllreduceService::prepare(const std::shared_ptr<const Graph>&,
                                                                    const Node& node) {
  TROUPE_ASSIGN(Collective collective, collective_of(node, site_.device->name().text()));
  return std::unique_ptr<const ServedNode>(
      new CollectiveNode(actor_, collectives_, std::make_shared<const Collective>(std::move(collective)),
                         node.type() == "WeightedAllReduce"));
}

std::vector<ChildSpec> AllreduceService::actors(const TaskSites& task) {
  const auto site = site_.shared_from_this();
  const Address self = task.address("allreduce", site_.device->name().text());
  return {{self, [this, site, self] { return spawn_allreduce(site, collectives_, self); },
           [this, site](const ActorRef& actor, ChildSpec::Standing) { actor_.put(actor); }}};
}

}  // namespace troupe
