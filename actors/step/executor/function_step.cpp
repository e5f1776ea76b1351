#include "actors/step/executor/function_step.h"

#include "messages/values/memory_claims.h"

namespace troupe {
namespace {

/// Returns the number of the call: of the node that calls, in the iteration and in the call in which it runs.
uint64_t key_of(const ServedStep& caller, const StepRequest& request, uint64_t path) {
  return frame_key(caller.call_key(), iteration_key(request.where.frame, request.where.iteration), path);
}

Result<BufferRef> claim_memory(const ExecutorShared& shared, size_t bytes) {
  auto* const claims = dynamic_cast<MemoryClaims*>(&shared.options.site->device->context().host_memory());
  return claims ? claims->claim(bytes) : BufferRef();
}

}  // namespace

Result<std::shared_ptr<FunctionStep>> FunctionStep::make(ServedStep& caller, const StepRequest& request,
                                                         const ExecutorShared::Request& how) {
  const std::string& name = how.function->name;
  if (caller.depth() >= max_call_depth)
    return resource_exhausted("function " + name + " would be call number " +
                              std::to_string(caller.depth() + 1) + " inside calls; at most " +
                              std::to_string(max_call_depth) +
                              " calls may be nested, so a condition must end the recursion before");
  if (caller.calls()->count() >= max_calls)
    return resource_exhausted("the step calls functions " + std::to_string(max_calls) +
                              " times at once, which is the maximum; the last one is function " + name);
  auto claim = claim_memory(caller.shared(), how.function->bytes);
  if (!claim)
    return resource_exhausted("call number " + std::to_string(caller.depth() + 1) +
                              " inside calls, of function " + name + ": " + claim.status().text());
  return std::shared_ptr<FunctionStep>(new FunctionStep(caller, request, how, std::move(*claim)));
}

FunctionStep::FunctionStep(ServedStep& caller, const StepRequest& request, const ExecutorShared::Request& how,
                           BufferRef claim)
    : ServedStep(caller, how.function->program), caller_(caller.shared_from_this()),
      activation_(request.activation), claim_(std::move(claim)), ticket_(*calls_) {
  call_key_ = key_of(caller, request, how.path);
  arguments_.reserve(request.inputs.size());
  for (Slot& input : request.inputs) {
    arguments_.push_back(input.kind == Slot::Kind::Handle ? Slot::of(input.cell)
                                                          : Slot::of(std::move(input.tensor)));
  }
}

void FunctionStep::drive() {
  if (!runner_) {
    runner_.emplace(program_.plan, *this);
    runner_->start_call(info_, arguments_, call_key_);
    arguments_ = {};
    if (Status status = calls_->enter(*this); !status.ok()) runner_->cancel(std::move(status));
  }
  last_turn_ = 0;
  runner_->drive();
}

void FunctionStep::cancel(Status reason) {
  if (runner_->cancel(std::move(reason))) drive_soon();
}

void FunctionStep::drive_soon() { calls_->push(std::static_pointer_cast<FunctionStep>(shared_from_this())); }

// The step around the calls fails with this status and stops its other calls.
void FunctionStep::failing(const Status& status) {
  calls_->fail(status);
  cancel_requests();
}

void FunctionStep::ended(Status status) {
  calls_->leave(*this);
  StepReply reply{std::move(status), {}, false};
  if (reply.status.ok())
    for (Tensor& result : runner_->fetched()) reply.outputs.push_back(std::move(result));
  const std::shared_ptr<ServedStep> caller = std::move(caller_);
  caller->arrived(activation_, std::move(reply));
}

}  // namespace troupe
