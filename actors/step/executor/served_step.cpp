#include "actors/step/executor/served_step.h"

#include "actors/step/executor/function_step.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

void ServedStep::arrived(Activation activation, StepReply reply) {
  if (runner_->arrived(activation, std::move(reply))) drive_soon();
}

void ServedStep::flush(FlushReason what) {
  if (what == FlushReason::Parking) return;
  ActorNode& node = shared_->options.site->node;
  const int64_t now = node.env.clock.now();
  if (last_turn_ == 0) last_turn_ = now;
  if (what == FlushReason::Kernel && now - last_turn_ < max_without_turn) return;
  if (Unit* unit = Unit::current(node.scheduler)) unit->turn();
  last_turn_ = node.env.clock.now();
}

bool ServedStep::invite_helper() {
  return shared_->options.site->node.scheduler.try_compute(
      [self = shared_from_this()] { self->runner_->help(); });
}

void ServedStep::request(StepRequest request) {
  const auto& how = program_.requests[request.activation.node];
  if (how.kind == ExecutorShared::Kind::Service) return ask_service(request, *how.served);
  if (how.kind != ExecutorShared::Kind::Call)
    return arrived(request.activation,
                   {internal("no kernel and no service was prepared for this op"), {}, false});
  auto step = FunctionStep::make(*this, request, how);
  if (!step) return arrived(request.activation, {step.status(), {}, false});
  calls_->push(std::move(*step));
}

void ServedStep::ask_service(const StepRequest& request, const ServedNode& served) {
  auto call = served.call(request, info_);
  if (!call) return arrived(request.activation, {call.status(), {}, false});
  if (!call->actor) return arrived(request.activation, std::move(call->reply));
  if (call->may_wait) waited_for_.try_emplace(call->actor, &served);
  shared_->options.site->node.engine.send(
      call->actor, std::move(call->message),
      Reply([self = shared_from_this(), activation = request.activation, &served](Result<AnyMessage> answer) {
        self->arrived(activation, served.reply(std::move(answer)));
      }));
}

void ServedStep::read(Activation activation, uint32_t input, StateCell& cell) {
  read(cell, Reply([self = shared_from_this(), activation, input](Result<AnyMessage> answer) {
         Result<Tensor> value = answer ? answer->attachment(0) : Result<Tensor>(answer.status());
         if (self->runner_->value_arrived(activation, input, std::move(value))) self->drive_soon();
       }));
}

void ServedStep::read(StateCell& cell, Reply reply) {
  const auto& site = *shared_->options.site;
  const auto owner = site.owner(cell);
  if (!owner) return reply(owner.status());
  Draft<wire::Read> draft;
  set_step(draft->initStep(), info_.session, info_.ordinal);
  draft->initCells(1).set(0, cell.id());
  site.node.engine.send(*owner, draft.finish(), std::move(reply));
}

void ServedStep::cancel_requests() {
  for (const auto& [actor, served] : waited_for_)
    shared_->options.site->node.engine.send(actor, served->cancellation(info_));
}

}  // namespace troupe
