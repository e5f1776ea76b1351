// StepRunner: runs one step of a PreparedPlan. One thread at a time drives it; what comes from elsewhere
// (replies, tensors, finished device work, cancellation) goes to its inbox, from any thread. It never blocks:
// when only the inbox can bring news, drive() returns, and whoever puts something in learns that the step
// needs a driver again. No CAF. A step ends once: with success, or with the first error (op, node, device and
// step filled in) after all that was under way has come back. After an error no further node starts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/step_state.h"
#include "kernels/prepared_plan.h"

namespace troupe {

/// A node whose op no kernel serves, ready to be carried out by the host. `node`, `where` and `dead` identify
/// a token for Send and Recv; a Send runs with `dead` set when its input is.
struct StepRequest {
  Activation activation;  ///< to be named in the reply
  const Node& node;
  Where where;
  bool dead = false;
  std::span<Slot> inputs;  ///< to be moved from; gone when request() returns
};

/// What a request came to. `outputs`: one value per output of the node, in order; for outputs that are
/// references or handles an invalid tensor, since the runner passes on the handle that came in.
struct StepReply {
  Status status;
  std::vector<Tensor> outputs;
  bool dead = false;  ///< Recv: the token is dead
};

/// What the executor actor (or a test) does for a running step. Called on the driving thread, except wake().
class StepHost {
 public:
  virtual ~StepHost() = default;
  /// Exactly one StepRunner::arrived() answers it, from any thread, at once or later.
  virtual void request(StepRequest request) = 0;
  /// A node waits for the value of a cell that is being changed: exactly one StepRunner::value_arrived()
  /// answers.
  virtual void read(Activation activation, uint32_t input, StateCell& cell) = 0;
  /// The step has failed: whatever was requested shall be answered soon, with any status. Called at most
  /// once.
  virtual void failing(const Status& status) = 0;
  /// Device work has finished and nobody drives the step: see that drive() is called. From any thread.
  virtual void wake() = 0;
  /// The last call for this step. The runner may be destroyed in it.
  virtual void ended(Status status) = 0;
};

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

  // From any thread, while the step has not ended. True: nobody drives the step; the caller sees that drive()
  // is called. False: someone does, and may end it at any moment.

  bool arrived(Activation activation, StepReply reply);
  bool value_arrived(Activation activation, uint32_t input, Result<Tensor> value);
  /// The first of several reasons counts. Long kernels see it at their next block.
  bool cancel(Status reason);

  /// The fetched tensors, by position; to be moved from, after the step has ended well.
  std::span<Tensor> fetched();

 private:
  std::shared_ptr<const PreparedPlan> plan_;
  std::unique_ptr<StepContext> context_;
};

}  // namespace troupe
