// StepRunner: runs one step of a PreparedPlan. One thread drives it, or several when nodes that take long are ready together: they run
// kernels side by side and hand on the results one at a time. What comes from elsewhere
// (replies, tensors, finished device work, cancellation) goes to its inbox, from any thread. It never blocks:
// when only the inbox can bring news, drive() returns, and whoever puts something in learns that the step
// needs a driver again. No CAF. A step ends once: with success, or with the first error (op, node, device and
// step filled in) after all that was under way has come back. After an error no further node starts.
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

  /// Once, before drive(). `info.cancelled` is set by the runner. Moves the fed tensors, which must fit
  /// Plan::feeds(); a kernel may write to memory that nobody else holds.
  void start(const StepInfo& info, std::span<Tensor> feeds);
  /// Runs what is ready, until nothing is, or the step has ended.
  void drive();
  /// On another thread, after StepHost::invite_helper(): drives the step beside the others for as long as there is something for two to
  /// do. The step may have ended; the runner must live.
  void help();

  // From any thread, while the step has not ended. True: nobody drives the step; the caller sees that drive()
  // is called. False: someone does, and may end it at any moment.

  bool arrived(Activation activation, StepReply reply);
  bool value_arrived(Activation activation, uint32_t input, Result<Tensor> value);
  /// The first of several reasons counts. Long kernels see it at their next block.
  bool cancel(Status reason);

  /// The fetched tensors, by position; to be moved from, after the step has ended well.
  std::span<Tensor> fetched();
  /// Of a step that was to be profiled, after it has ended.
  const StepProfile& profile() const;

 private:
  std::shared_ptr<const PreparedPlan> plan_;
  StepHost& host_;
  std::unique_ptr<StepContext> context_;
};

}  // namespace troupe
