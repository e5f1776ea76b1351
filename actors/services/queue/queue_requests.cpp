#include "actors/services/queue/queue_requests.h"

#include <algorithm>
#include <limits>

#include "actors/site/scalar_input.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

template <class T>
void set_timeout(Draft<T>& draft, const Node& node) {
  constexpr int64_t nanoseconds = 1'000'000;
  const int64_t milliseconds = node.attrs.get<int64_t>("timeout_ms");
  if (milliseconds >= 0)
    draft->setTimeout(std::min(milliseconds, std::numeric_limits<int64_t>::max() / nanoseconds) *
                      nanoseconds);
}

template <class T>
AnyMessage enqueue_message(const StepRequest& request, const StepInfo& step) {
  Draft<T> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  set_timeout(draft, request.node);
  std::vector<Tensor> components;
  for (Slot& slot : request.inputs.subspan(1)) components.push_back(std::move(slot.tensor));
  return draft.finish(std::move(components));
}

Status check_components(const Node& node, const QueueSpec& spec) {
  bool same = node.output_types.size() == spec.types.size();
  for (size_t i = 0; same && i < spec.types.size(); ++i) same = node.output_types[i].dtype == spec.types[i];
  if (same) return {};
  std::string wanted;
  for (const EdgeType& output : node.output_types)
    wanted += (wanted.empty() ? "" : ", ") + std::string(name(output.dtype));
  return invalid_argument("queue '" + spec.name + "' has " + spec.text() + ", but the op yields (" + wanted +
                          ")");
}

Result<AnyMessage> dequeue_many_message(QueueOp op, const StepRequest& request, const StepInfo& step) {
  TROUPE_ASSIGN(const auto n, scalar_input<int32_t>(request.inputs[1], "n"));
  if (n < 0) return invalid_argument("n is " + std::to_string(n) + ", but must be at least 0");
  Draft<wire::DequeueMany> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  set_timeout(draft, request.node);
  draft->setCount(static_cast<uint64_t>(n));
  draft->setUpTo(op == QueueOp::DequeueUpTo);
  return AnyMessage(draft.finish());
}

AnyMessage close_message(const StepRequest& request, const StepInfo& step) {
  Draft<wire::CloseQueue> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  draft->setCancelPending(request.node.attrs.get<bool>("cancel_pending_enqueues"));
  return draft.finish();
}

}  // namespace

std::optional<QueueOp> queue_op(const OpDef& op) {
  static constexpr std::pair<std::string_view, QueueOp> ops[] = {
      {"QueueEnqueue", QueueOp::Enqueue},         {"QueueEnqueueMany", QueueOp::EnqueueMany},
      {"QueueDequeue", QueueOp::Dequeue},         {"QueueDequeueMany", QueueOp::DequeueMany},
      {"QueueDequeueUpTo", QueueOp::DequeueUpTo}, {"QueueClose", QueueOp::Close},
      {"QueueIsClosed", QueueOp::IsClosed},       {"QueueSize", QueueOp::Size}};
  std::string_view type = op.name;
  if (type.ends_with("V2")) type.remove_suffix(2);
  for (const auto& [name, queue_op] : ops)
    if (name == type) return queue_op;
  return std::nullopt;
}

Result<AnyMessage> queue_message(QueueOp op, const StepRequest& request, const StepInfo& step,
                                 const QueueSpec& spec) {
  switch (op) {
    case QueueOp::Enqueue: return enqueue_message<wire::Enqueue>(request, step);
    case QueueOp::EnqueueMany: return enqueue_message<wire::EnqueueMany>(request, step);
    case QueueOp::Close: return close_message(request, step);
    case QueueOp::IsClosed:
    case QueueOp::Size: return AnyMessage(Draft<wire::GetQueueSize>().finish());
    case QueueOp::Dequeue:
    case QueueOp::DequeueMany:
    case QueueOp::DequeueUpTo: break;
  }
  TROUPE_RETURN_IF_FAILED(check_components(request.node, spec));
  if (op != QueueOp::Dequeue) return dequeue_many_message(op, request, step);
  Draft<wire::Dequeue> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  set_timeout(draft, request.node);
  return AnyMessage(draft.finish());
}

StepReply queue_reply(QueueOp op, Result<AnyMessage> answer) {
  if (!answer) return {answer.status(), {}, false};
  if (op == QueueOp::IsClosed)
    return {{}, {Tensor::scalar(Message<wire::QueueSize>(*answer)->getClosed())}, false};
  if (op == QueueOp::Size) {
    constexpr uint64_t max_size = std::numeric_limits<int32_t>::max();
    const uint64_t size = Message<wire::QueueSize>(*answer)->getSize();
    return {{}, {Tensor::scalar(static_cast<int32_t>(std::min(size, max_size)))}, false};
  }
  const auto components = answer->attachments();
  return {{}, {components.begin(), components.end()}, false};
}

}  // namespace troupe
