// StepRunner: runs one step of a PreparedPlan. One thread drives the step; if several nodes that take long are ready, other
// threads help: they run kernels side by side and pass on the results one at a time. What comes from elsewhere (replies,
// tensors, finished device work, cancellation) goes to the inbox of the step, from any thread. The runner never blocks: if the
// step can only continue after an arrival, drive() returns, and the call that adds the next arrival returns true to say that
// the step needs a driver again. A step ends once, with success or with the first error (op, node, device and step filled in),
// after all pending work has come back. After an error no further node starts. No CAF.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/runtime/prepared_plan.h"
#include "kernels/runtime/step_host.h"
#include "kernels/runtime/step_profile.h"

namespace troupe {

class StepRunner {
 public:
  StepRunner(std::shared_ptr<const PreparedPlan> plan, StepHost& host);
  ~StepRunner();
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  /// Starts the step; called once, before drive(). The runner sets `info.cancelled`. The fed tensors are moved from and must
  /// match Plan::feeds(); a kernel may write to their memory if nobody else holds it.
  void start(const StepInfo& info, std::span<Tensor> feeds);
  /// Starts the step that carries out a call of a function, in place of the function above. The arguments may be handles. `call`
  /// distinguishes this call from all others of the step around it and is not 0: random nodes draw other numbers in each call.
  void start_call(const StepInfo& info, std::span<Slot> arguments, uint64_t call);
  /// Runs nodes until none is ready or the step has ended. The step may have ended before the call; the runner must still exist.
  void drive();
  /// Called on another thread after StepHost::invite_helper(): drives the step beside other threads while there is work for
  /// both. The step may have ended by then; the runner must still exist.
  void help();

  // Any thread may call the following three functions while the step has not ended. They return true if no thread drives the
  // step: the caller must then have drive() called. They return false if a thread drives it, which may end the step at any
  // moment.

  bool arrived(Activation activation, StepReply reply);
  bool value_arrived(Activation activation, uint32_t input, Result<Tensor> value);
  /// Stops the step with this reason; the first of several reasons counts. Long kernels stop at their next block.
  bool cancel(Status reason);

  /// Returns the fetched tensors, by position in the signature. The caller may move from them after the step has ended with
  /// success.
  std::span<Tensor> fetched();
  /// Returns the profile of a step with StepInfo::profiled, after it has ended.
  const StepProfile& profile() const;

 private:
  std::shared_ptr<const PreparedPlan> plan_;
  StepHost& host_;
  std::unique_ptr<StepContext> context_;
};

}  // namespace troupe
