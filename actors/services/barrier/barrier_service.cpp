#include "actors/services/barrier/barrier_service.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "actors/services/barrier/barrier.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/barrier.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

enum class Op : uint8_t { Insert, Take, Close, ReadySize, IncompleteSize };

std::optional<Op> barrier_op(std::string_view type) {
  static constexpr std::pair<std::string_view, Op> ops[] = {{"BarrierInsertMany", Op::Insert},
                                                            {"BarrierTakeMany", Op::Take},
                                                            {"BarrierClose", Op::Close},
                                                            {"BarrierReadySize", Op::ReadySize},
                                                            {"BarrierIncompleteSize", Op::IncompleteSize}};
  for (const auto& [name, op] : ops)
    if (name == type) return op;
  return std::nullopt;
}

Result<AnyMessage> insert_message(const StepRequest& request) {
  const int64_t component = request.node.attrs.get<int64_t>("component_index");
  if (component < 0 || component > std::numeric_limits<int32_t>::max())
    return invalid_argument("component_index is " + std::to_string(component) +
                            ", but must be the number of a component");
  Draft<wire::InsertComponents> draft;
  draft->setComponent(static_cast<uint32_t>(component));
  return AnyMessage(draft.finish({std::move(request.inputs[1].tensor), std::move(request.inputs[2].tensor)}));
}

Result<AnyMessage> take_message(const StepRequest& request, const StepInfo& step, const BarrierSpec& spec) {
  const Node& node = request.node;
  if (const int64_t timeout = node.attrs.get<int64_t>("timeout_ms"); timeout != -1)
    return invalid_argument("timeout_ms is " + std::to_string(timeout) + ", but a barrier only supports -1");
  const auto outputs = std::span(node.output_types).subspan(2);  // after indices and keys
  const bool same = std::ranges::equal(outputs, spec.types, {}, &EdgeType::dtype);
  if (!same)
    return invalid_argument("barrier '" + spec.name + "' has " + spec.text() +
                            ", but the op's component_types are others");
  const Tensor& count = request.inputs[1].tensor;
  if (count.dtype() != DType::Int32 || !count.shape().is_scalar() || count.as<int32_t>()[0] < 0)
    return invalid_argument("num_elements is " + count.signature() +
                            (count.dtype() == DType::Int32 && count.shape().is_scalar()
                                 ? " " + std::to_string(count.as<int32_t>()[0])
                                 : "") +
                            ", but must be an int32[] of at least 0");
  Draft<wire::TakeElements> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  draft->setCount(static_cast<uint32_t>(count.as<int32_t>()[0]));
  draft->setSmallBatch(node.attrs.get<bool>("allow_small_batch"));
  return AnyMessage(draft.finish());
}

Result<AnyMessage> message_of(Op op, const StepRequest& request, const StepInfo& step,
                              const BarrierSpec& spec) {
  switch (op) {
    case Op::Insert: return insert_message(request);
    case Op::Take: return take_message(request, step, spec);
    case Op::Close: {
      Draft<wire::CloseBarrier> draft;
      draft->setCancelPending(request.node.attrs.get<bool>("cancel_pending_enqueues"));
      return AnyMessage(draft.finish());
    }
    case Op::ReadySize:
    case Op::IncompleteSize: break;
  }
  return AnyMessage(Draft<wire::GetBarrierSize>().finish());
}

class BarrierNode final : public ServedNode {
 public:
  BarrierNode(const StateActors<BarrierSpec>& barriers, Op op) : barriers_(barriers), op_(op) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const auto barrier, barriers_.find(request.inputs[0]));
    TROUPE_ASSIGN(auto message, message_of(op_, request, step, barrier->spec));
    return ServiceCall{barrier->actor.get(), std::move(message), {}, op_ == Op::Take};
  }

  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    if (op_ == Op::ReadySize || op_ == Op::IncompleteSize) {
      const auto size = *Message<wire::BarrierSize>(*answer);
      const uint64_t count = op_ == Op::ReadySize ? size.getReady() : size.getIncomplete();
      constexpr uint64_t most = std::numeric_limits<int32_t>::max();
      return {{}, {Tensor::scalar(static_cast<int32_t>(std::min(count, most)))}, false};
    }
    const auto tensors = answer->attachments();
    return {{}, {tensors.begin(), tensors.end()}, false};
  }

  AnyMessage cancellation(const StepInfo& step) const override { return cancellation_of(step); }

 private:
  const StateActors<BarrierSpec>& barriers_;
  const Op op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> BarrierService::prepare(const std::shared_ptr<const Graph>&,
                                                                  const Node& node) {
  const auto op = barrier_op(node.type());
  if (!op) return unimplemented("the barrier service does not know this op");
  return std::unique_ptr<const ServedNode>(new BarrierNode(states_, *op));
}

Status BarrierService::open(const Node& handle, const std::shared_ptr<StateCell>& cell) {
  TROUPE_RETURN_IF_FAILED(check_host("a barrier keeps its elements"));
  TROUPE_ASSIGN(BarrierSpec spec, barrier_spec(handle));
  return states_.open(cell, std::move(spec),
                      [&](const BarrierSpec& made) { return make_barrier(site_.node, made, site_.device); });
}

}  // namespace troupe
