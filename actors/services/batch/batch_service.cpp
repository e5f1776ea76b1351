#include "actors/services/batch/batch_service.h"

#include <algorithm>

#include "actors/services/batch/batch.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/batch.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

template <class T>
void name_step(Draft<T>& draft, const StepInfo& step) {
  set_step(draft->initStep(), step.session, step.ordinal);
}

AnyMessage message_of(BatchKind kind, const StepRequest& request, const StepInfo& step) {
  std::vector<Tensor> tensors;
  for (Slot& slot : request.inputs) tensors.push_back(std::move(slot.tensor));
  const Attributes& attrs = request.node.attrs;
  switch (kind) {
    case BatchKind::Batch: {
      Draft<wire::JoinBatch> draft;
      name_step(draft, step);
      draft->setQueue(as_text(attrs.get<std::string>("batching_queue")));
      return draft.finish(std::move(tensors));
    }
    case BatchKind::Unbatch: {
      constexpr int64_t nanoseconds = 1000;
      Draft<wire::TakeBatchPart> draft;
      name_step(draft, step);
      draft->setTimeout(std::clamp<int64_t>(attrs.get<int64_t>("timeout_micros"), 0, INT32_MAX) *
                        nanoseconds);
      return draft.finish(std::move(tensors));
    }
    case BatchKind::BatchGradient: break;
  }
  Draft<wire::JoinGradients> draft;
  name_step(draft, step);
  return draft.finish(std::move(tensors));
}

class BatchNode final : public ServedNode {
 public:
  BatchNode(const StateActors<BatchSpec>& batches, BatchKind kind) : batches_(batches), kind_(kind) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const auto batch, batches_.find(request.cell));
    return ServiceCall{batch->actor.get(), message_of(kind_, request, step), {}, true};
  }
  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    return {{}, {answer->attachments().begin(), answer->attachments().end()}, false};
  }
  AnyMessage cancellation(const StepInfo& step) const override { return cancellation_of(step); }

 private:
  const StateActors<BatchSpec>& batches_;
  const BatchKind kind_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> BatchService::prepare(const std::shared_ptr<const Graph>&,
                                                                const Node& node) {
  TROUPE_ASSIGN(const BatchSpec spec, batch_spec(node));
  return std::unique_ptr<const ServedNode>(new BatchNode(states_, spec.kind));
}

Status BatchService::open(const Node& node, const std::shared_ptr<StateCell>& cell) {
  TROUPE_RETURN_IF_FAILED(check_host("a batch op keeps its batches"));
  TROUPE_ASSIGN(BatchSpec spec, batch_spec(node));
  return states_.open(cell, std::move(spec), [&](const BatchSpec& made) {
    switch (made.kind) {
      case BatchKind::Batch: return make_batch(site_.node, made, site_.device);
      case BatchKind::Unbatch: return make_unbatch(site_.node, made);
      case BatchKind::BatchGradient: break;
    }
    return make_batch_gradient(site_.node, made, site_.device);
  });
}

}  // namespace troupe
