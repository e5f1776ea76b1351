#include "actors/services/queue/queue_service.h"

#include "actors/services/queue/queue_requests.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

class QueueNode final : public ServedNode {
 public:
  QueueNode(const QueueTable& queues, QueueOp op) : queues_(queues), op_(op) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    const Slot& handle = request.inputs[0];
    const auto queue = handle.kind == Slot::Kind::Handle ? queues_.find(*handle.cell) : nullptr;
    if (!queue) return invalid_argument("the handle leads to no queue of this device");
    TROUPE_ASSIGN(auto message, queue_message(op_, request, step, queue->spec));
    return ServiceCall{queue->actor.get(), std::move(message), {}, true};
  }
  StepReply reply(Result<AnyMessage> answer) const override { return queue_reply(op_, std::move(answer)); }
  AnyMessage cancellation(const StepInfo& step) const override {
    Draft<wire::CancelAttempts> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    return draft.finish();
  }

 private:
  const QueueTable& queues_;
  const QueueOp op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> QueueService::prepare(const std::shared_ptr<const Graph>&,
                                                                const Node& node) {
  const auto op = queue_op(*node.op);
  if (!op) return unimplemented("the queue service does not serve this op");
  return std::unique_ptr<const ServedNode>(new QueueNode(queues_, *op));
}

Status QueueService::open(const Node& handle, const std::shared_ptr<StateCell>& cell) {
  TROUPE_ASSIGN(const QueueSpec spec, queue_spec(handle));
  return queues_.open(site_, cell, spec);
}

}  // namespace troupe
