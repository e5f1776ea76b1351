#include "actors/site/waiting_role.h"

#include <limits>

#include "messages/schemas/waiting.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

WaitingRole::WaitingRole(ActorNode& node, std::string what) : node_(node), what_(std::move(what)) {
  on<wire::CancelRequests>([this](const Message<wire::CancelRequests>& message, Reply) {
    const StepKey step{message->getStep().getSession(), message->getStep().getOrdinal(), 0};
    end_waiting([&](const WaitingRequest& request) { return request.step == step; },
                cancelled("the step ended while it waited for " + what_));
  });
  on<wire::RequestExpired>([this](const Message<wire::RequestExpired>& message, Reply) {
    const uint64_t number = message->getRequest();
    end_waiting([&](const WaitingRequest& request) { return request.number == number; },
                deadline_exceeded("the timeout for waiting on " + what_ + " has passed"));
  });
}

void WaitingRole::finish(WaitingRequest& request, Result<AnyMessage> answer) {
  stop_timer(request);
  request.reply(std::move(answer));
}

void WaitingRole::stop_timer(const WaitingRequest& request) const {
  if (request.timer) node_.env.clock.cancel(*request.timer);
}

TimerId WaitingRole::expire_after(uint64_t number, int64_t timeout) {
  const int64_t now = node_.env.clock.now();
  return node_.env.clock.call_at(now + std::min(timeout, std::numeric_limits<int64_t>::max() - now),
                                 [&engine = engine(), self = self(), number] {
                                   Draft<wire::RequestExpired> expired;
                                   expired->setRequest(number);
                                   engine.send(self, expired.finish());
                                 });
}

AnyMessage cancellation_of(const StepInfo& step) {
  Draft<wire::CancelRequests> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  return draft.finish();
}

}  // namespace troupe
