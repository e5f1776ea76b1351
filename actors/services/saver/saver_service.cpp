#include "actors/services/saver/saver_service.h"

#include "actors/services/saver/saver.h"
#include "actors/services/saver/saver_requests.h"
#include "actors/site/task_sites.h"
#include "messages/schemas/saver.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

class SaverNode final : public ServedNode {
 public:
  SaverNode(const ActorPlace& actor, SaverOp op) : actor_(actor), op_(op) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    // Variables here are never copied when they are read, so that there is nothing to turn off.
    if (op_ == SaverOp::DisableCopyOnRead) return ServiceCall{};
    TROUPE_ASSIGN(auto message, saver_message(op_, request, step));
    return ServiceCall{actor_.get(), std::move(message), {}, true};
  }
  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    const auto tensors = answer->attachments();
    return {{}, {tensors.begin(), tensors.end()}, false};
  }
  AnyMessage cancellation(const StepInfo& step) const override {
    Draft<wire::CancelFiles> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    return draft.finish();
  }

 private:
  const ActorPlace& actor_;
  const SaverOp op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> SaverService::prepare(const std::shared_ptr<const Graph>&,
                                                                const Node& node) {
  const auto op = saver_op(*node.op);
  if (!op) return unimplemented("the saver service does not know this op");
  return std::unique_ptr<const ServedNode>(new SaverNode(actor_, *op));
}

std::vector<ChildSpec> SaverService::actors(const TaskSites& task) {
  const auto site = site_.shared_from_this();
  return {{task.address("saver", site_.device->name().text()), [site] { return spawn_saver(site); },
           [this, site](const ActorRef& actor, ChildSpec::Standing) { actor_.put(actor); }}};
}

}  // namespace troupe
