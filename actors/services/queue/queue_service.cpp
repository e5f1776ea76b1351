#include "actors/services/queue/queue_service.h"

#include "actors/services/queue/queue_requests.h"
#include "actors/site/waiting_role.h"

namespace troupe {
namespace {

class QueueNode final : public ServedNode {
 public:
  QueueNode(const StateActors<QueueSpec>& queues, QueueOp op) : queues_(queues), op_(op) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const auto queue, queues_.find(request.inputs[0]));
    TROUPE_ASSIGN(auto message, queue_message(op_, request, step, queue->spec));
    return ServiceCall{queue->actor.get(), std::move(message), {}, true};
  }
  StepReply reply(Result<AnyMessage> answer) const override { return queue_reply(op_, std::move(answer)); }
  AnyMessage cancellation(const StepInfo& step) const override { return cancellation_of(step); }

 private:
  const StateActors<QueueSpec>& queues_;
  const QueueOp op_;
};

}  // namespace

const QueueService& QueueService::of(const DeviceSite& site) {
  return static_cast<const QueueService&>(*site.services.find(name)->second);
}

Result<Address> QueueService::queue_of_strings(const Slot& handle) const {
  TROUPE_ASSIGN(const auto queue, states_.find(handle));
  if (queue->spec.types == std::vector{DType::String}) return site_.address(role, *handle.cell);
  return invalid_argument("queue '" + queue->spec.name + "' must have strings, but has " +
                          queue->spec.text());
}

Result<std::unique_ptr<const ServedNode>> QueueService::prepare(const std::shared_ptr<const Graph>&,
                                                                const Node& node) {
  const auto op = queue_op(*node.op);
  if (!op) return unimplemented("the queue service does not know this op");
  return std::unique_ptr<const ServedNode>(new QueueNode(states_, *op));
}

Status QueueService::open(const Node& handle, const std::shared_ptr<StateCell>& cell) {
  TROUPE_RETURN_IF_FAILED(check_host("a queue keeps its elements"));
  TROUPE_ASSIGN(QueueSpec spec, queue_spec(handle));
  return states_.open(cell, std::move(spec),
                      [&](const QueueSpec& made) { return make_queue(site_.node, made, site_.device); });
}

}  // namespace troupe
