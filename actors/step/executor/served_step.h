// ServedStep: the host of a running step that carries out its requests through actors and functions: the part of a step that runs
// on one device (PartitionStep), or a call of a function inside it (FunctionStep). No thread waits for the replies. The thread that
// drives the step shares it with those that bring replies.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "actors/step/executor/executor_shared.h"
#include "kernels/runtime/step_runner.h"

namespace troupe {

class CallQueue;

/// After how many nanoseconds a thread that computes a step gives the actors that wait for the thread their turn.
constexpr int64_t max_without_turn = 50'000;

class ServedStep : public StepHost, public std::enable_shared_from_this<ServedStep> {
 public:
  /// Stops the step with this reason; the first of several reasons counts. The step may have ended.
  virtual void cancel(Status reason) = 0;
  /// Takes the reply to a request.
  void arrived(Activation activation, StepReply reply);
  /// Has the step driven soon, on another stack.
  virtual void drive_soon() = 0;

  const StepInfo& info() const { return info_; }
  const ExecutorShared& shared() const { return *shared_; }
  const std::shared_ptr<CallQueue>& calls() const { return calls_; }
  /// Returns the number of calls around this one; 0 if this is no call.
  size_t depth() const { return depth_; }
  /// Returns a number that distinguishes this call from all others of the step; 0 if this is no call.
  uint64_t call_key() const { return call_key_; }

 protected:
  ServedStep(std::shared_ptr<ExecutorShared> shared, const ExecutorShared::Program& program,
             const StepInfo& info)
      : keep_alive_(shared->options.site->node), shared_(std::move(shared)), program_(program), info_(info) {}

  /// For a call inside `caller`.
  ServedStep(const ServedStep& caller, const ExecutorShared::Program& program)
      : keep_alive_(caller.shared_->options.site->node), shared_(caller.shared_), program_(program),
        info_(caller.info_), calls_(caller.calls_), depth_(caller.depth_ + 1) {}

  void request(StepRequest request) override;
  void read(Activation activation, uint32_t input, StateCell& cell) override;
  /// Gives the other jobs of the thread a turn if the step has run for a while or is about to.
  void flush(FlushReason what) override;
  bool invite_helper() override;
  void wake() override { drive_soon(); }

  void read(StateCell& cell, Reply reply);
  /// Tells the actors that keep a request of this step to answer it soon.
  void cancel_requests();

  const ActorNode::KeepAlive keep_alive_;  // the first member, so that the node outlives all others
  const std::shared_ptr<ExecutorShared> shared_;
  const ExecutorShared::Program& program_;  ///< a part of *shared_
  const StepInfo info_;
  std::optional<StepRunner> runner_;
  std::shared_ptr<CallQueue> calls_;  ///< all calls of the step; null if it calls no functions
  size_t depth_ = 0;
  uint64_t call_key_ = 0;
  int64_t last_turn_ = 0;  ///< when other jobs last ran on the driving thread; used by that thread only

 private:
  void ask_service(const StepRequest& request, const ServedNode& served);

  /// The actors that may keep a request of this step for long, each with a node that sent one; used by the driving thread only.
  std::map<ActorRef, const ServedNode*> waited_for_;
};

}  // namespace troupe
