#include "actors/services/accumulator/accumulator_service.h"

#include <limits>

#include "actors/services/accumulator/accumulator.h"
#include "actors/site/scalar_input.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/accumulator.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

class AccumulatorNode final : public ServedNode {
 public:
  enum class Op : uint8_t { Apply, Take, SetStep, Count };

  AccumulatorNode(const StateActors<AccumulatorSpec>& accumulators, Op op)
      : accumulators_(accumulators), op_(op) {}

  /// Returns which op this is, or nothing if it is not an op on accumulators.
  static std::optional<Op> op_of(const OpDef& op) {
    static constexpr std::pair<std::string_view, Op> ops[] = {{"AccumulatorApplyGradient", Op::Apply},
                                                              {"AccumulatorTakeGradient", Op::Take},
                                                              {"AccumulatorSetGlobalStep", Op::SetStep},
                                                              {"AccumulatorNumAccumulated", Op::Count}};
    for (const auto& [name, value] : ops)
      if (std::string_view(op.name).ends_with(name)) return value;
    return std::nullopt;
  }

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const auto accumulator, accumulators_.find(request.inputs[0]));
    const AccumulatorSpec& spec = accumulator->spec;
    if (op_ == Op::Apply || op_ == Op::Take) TROUPE_RETURN_IF_FAILED(check(request.node, spec));
    TROUPE_ASSIGN(AnyMessage message, message_of(request, step));
    return ServiceCall{accumulator->actor.get(), std::move(message), {}, op_ == Op::Take};
  }

  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    if (op_ == Op::Count) {
      constexpr uint64_t most = std::numeric_limits<int32_t>::max();
      const uint64_t count = Message<wire::Accumulated>(*answer)->getCount();
      return {{}, {Tensor::scalar(static_cast<int32_t>(std::min(count, most)))}, false};
    }
    const auto components = answer->attachments();
    return {{}, {components.begin(), components.end()}, false};
  }

  AnyMessage cancellation(const StepInfo& step) const override { return cancellation_of(step); }

 private:
  static Status check(const Node& node, const AccumulatorSpec& spec) {
    const bool sparse = std::string_view(node.type()).starts_with("Sparse");
    const auto dtype = node.attrs.get<DType>("dtype");
    if (sparse == spec.sparse && dtype == spec.dtype) return {};
    return invalid_argument("accumulator '" + spec.name + "' takes " + spec.text() + ", but the op is for " +
                            (sparse ? "sparse " : "dense ") + std::string(troupe::name(dtype)));
  }

  Result<AnyMessage> message_of(const StepRequest& request, const StepInfo& step) const {
    switch (op_) {
      case Op::Apply: return apply_message(request);
      case Op::Take: {
        TROUPE_ASSIGN(const auto required, scalar_input<int32_t>(request.inputs[1], "num_required"));
        Draft<wire::TakeGradient> draft;
        set_step(draft->initStep(), step.session, step.ordinal);
        draft->setRequired(required);
        return AnyMessage(draft.finish());
      }
      case Op::SetStep: {
        TROUPE_ASSIGN(const auto global, scalar_input<int64_t>(request.inputs[1], "new_global_step"));
        Draft<wire::SetGlobalStep> draft;
        draft->setGlobalStep(global);
        return AnyMessage(draft.finish());
      }
      case Op::Count: break;
    }
    return AnyMessage(Draft<wire::GetAccumulated>().finish());
  }

  static Result<AnyMessage> apply_message(const StepRequest& request) {
    TROUPE_ASSIGN(const auto local, scalar_input<int64_t>(request.inputs[1], "local_step"));
    Draft<wire::ApplyGradient> draft;
    draft->setLocalStep(local);
    size_t components = request.inputs.size() - 2;
    if (components == 3 && !request.node.attrs.get<bool>("has_known_shape")) components = 2;
    std::vector<Tensor> gradient;
    for (Slot& slot : request.inputs.subspan(2, components)) gradient.push_back(std::move(slot.tensor));
    return AnyMessage(draft.finish(std::move(gradient)));
  }

  const StateActors<AccumulatorSpec>& accumulators_;
  const Op op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> AccumulatorService::prepare(const std::shared_ptr<const Graph>&,
                                                                      const Node& node) {
  const auto op = AccumulatorNode::op_of(*node.op);
  if (!op) return unimplemented("the accumulator service does not know this op");
  return std::unique_ptr<const ServedNode>(new AccumulatorNode(states_, *op));
}

Status AccumulatorService::open(const Node& handle, const std::shared_ptr<StateCell>& cell) {
  TROUPE_RETURN_IF_FAILED(check_host("an accumulator keeps its sum"));
  TROUPE_ASSIGN(AccumulatorSpec spec, accumulator_spec(handle));
  return states_.open(cell, std::move(spec), [&](const AccumulatorSpec& made) {
    return make_accumulator(site_.node, made, site_.device);
  });
}

}  // namespace troupe
