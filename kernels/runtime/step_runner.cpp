#include "kernels/runtime/step_runner.h"

#include <utility>

#include "kernels/runtime/step_context.h"

namespace troupe {

StepRunner::StepRunner(std::shared_ptr<const PreparedPlan> plan, StepHost& host)
    : plan_(std::move(plan)), host_(host), context_(plan_->acquire()) {}

StepRunner::~StepRunner() {
  context_->recycle();
  plan_->release(std::move(context_));
}

void StepRunner::start(const StepInfo& info, std::span<Tensor> feeds) { context_->start(host_, info, feeds); }

void StepRunner::start_call(const StepInfo& info, std::span<Slot> arguments, uint64_t call) {
  context_->start_call(host_, info, arguments, call);
}

void StepRunner::drive() { context_->drive(); }

void StepRunner::help() { context_->help(); }

bool StepRunner::arrived(Activation activation, StepReply reply) {
  return context_->inbox().put({activation, StepArrival::whole_node, std::move(reply)});
}

bool StepRunner::value_arrived(Activation activation, uint32_t input, Result<Tensor> value) {
  StepArrival arrival{activation, input, {}};
  if (value)
    arrival.reply.outputs.push_back(std::move(*value));
  else
    arrival.reply.status = value.status();
  return context_->inbox().put(std::move(arrival));
}

bool StepRunner::cancel(Status reason) { return context_->inbox().cancel(std::move(reason)); }

std::span<Tensor> StepRunner::fetched() { return context_->fetched(); }

const StepProfile& StepRunner::profile() const { return context_->profile(); }

}  // namespace troupe
