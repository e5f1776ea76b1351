// StepContext: everything that one running step writes: its state, slots and inbox. A step takes it from the prepared plan and
// gives it back, so that a step like the ones before it allocates nothing but tensors. StepRunner uses it; the thread rules
// there hold here.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "devices/gpu_faults.h"
#include "graph/plan/step_state.h"
#include "kernels/runtime/kernel_run.h"
#include "kernels/runtime/prepared_plan.h"
#include "kernels/runtime/recorded_kernels.h"
#include "kernels/runtime/step_inbox.h"
#include "kernels/runtime/step_profile.h"

namespace troupe {

class GpuRange;      // devices/gpu_queue.h
class ReadBackWork;  // kernels/core/read_back.h

class StepContext {
 public:
  explicit StepContext(const PreparedPlan& prepared);

  void start(StepHost& host, const StepInfo& info, std::span<Tensor> feeds);
  void start_call(StepHost& host, const StepInfo& info, std::span<Slot> arguments, uint64_t call);
  void drive();
  void help();
  StepInbox& inbox() { return inbox_; }
  std::span<Tensor> fetched() { return fetched_; }
  const StepProfile& profile() const { return profile_; }
  /// Releases the tensors of the step that has ended.
  void recycle();

 private:
  // The ways in which outputs reach their slots: see StepState::done().
  struct Values;
  struct NoValues;
  struct KernelValues;
  struct SlotValues;
  struct EachSlotValues;
  struct SwitchValues;
  struct ConstantValues;
  struct MergeValues;
  struct HandleValues;
  struct FeedValues;
  struct ReplyValues;

  void begin(StepHost& host, const StepInfo& info, uint64_t call);
  bool may_use_records();
  void drive(std::unique_lock<std::mutex>& lock);
  void run_ready();
  void run(Activation activation);
  void carry_out(Activation activation);
  GpuRange range_of(const PreparedNode& node) const;
  /// Returns whether a node does not run because it is dead.
  bool is_skipped(Activation activation) const {
    return activation.dead() && !nodes_[activation.node].runs_dead;
  }
  void skip(Activation activation);
  void feed(Activation activation, const PreparedNode& node);
  void forward(Activation activation);
  void run_switch(Activation activation);
  void run_merge(Activation activation);
  void fetch(Activation activation);
  void request(Activation activation, const PreparedNode& node);
  bool lies_on_device(Activation activation, const PreparedNode& node);
  void run_kernel(Activation activation, const PreparedNode& node);
  void run_beside(Activation activation, const PreparedNode& node);
  bool runs_beside(Activation activation) const;
  bool takes_long(Activation activation) const;
  bool worth_waking() const;
  void flush_before(Activation activation, const PreparedNode& node);
  void finish_kernel(Activation activation, const PreparedNode& node);
  void run_on_device(Activation activation, const PreparedNode& node);
  void leave_to_device(Activation activation, KernelRun* run, Result<std::unique_ptr<DeviceWork>> work);
  Completion read_back(ReadBackWork& work, KernelRun* run, const Completion& computed);
  KernelRun* new_run(Activation activation, const PreparedNode& node);
  void announce(Activation activation, KernelRun* run, Status status);
  bool end_run(StepArrival& arrival);

  void run_recorded(Activation activation, const PreparedNode& node);
  bool waits_for_others(Activation activation, const PreparedNode& node) const;
  bool issue_records();
  void keep_inputs(Activation activation);
  Status copy_inputs(Activation activation);
  void leave_device(Activation activation, const PreparedNode& node);
  void leave_together();
  void bring_to_host(Activation activation);
  Status with_reports(Status copied) const;
  void await_copies();
  void leave(Activation activation);
  Status bring_to_device(Tensor& tensor);

  bool read_handles(Activation activation, const PreparedNode& node);
  bool is_resource(const PreparedNode& node, uint32_t input) const;
  bool read_handle(Activation activation, const PreparedNode& node, uint32_t input, Slot& slot);

  bool receive(bool park);
  void settle(StepArrival& arrival);
  void note_reply(const StepArrival& arrival);
  void settle_read(const StepArrival& arrival, Tensor value);
  void settle_outputs(Activation activation, StepReply& reply);
  void fail(Status status);
  void fail(const PreparedNode& node, Status status);
  void begin_profile();
  void run_timed(Activation activation, uint64_t bytes);
  void read_gpu_times();
  void check_fetches();
  void end(std::unique_lock<std::mutex>& lock);

  Slot* inputs(Activation activation) { return slots_.data() + state_.first_slot(activation); }
  uint32_t input_count(Activation activation) const { return plan_.nodes()[activation.node].inputs; }
  void clear_inputs(Activation activation);
  uint64_t frame_key(Activation activation) const;

  const PreparedPlan& prepared_;
  const Plan& plan_;
  const PreparedNode* const nodes_;
  DeviceContext& device_;
  const bool in_order_;
  const bool shares_;  ///< several threads may drive the step
  StepState state_;
  /// On a GPU: where the kernels of this context report wrong values.
  std::optional<GpuFaults::Place> faults_;
  /// Ready nodes that take long, taken from the state and not run yet.
  std::vector<Activation> long_ready_;
  /// On a GPU: if non-null, runs the kernels of this context's steps, while uses_records_.
  std::unique_ptr<RecordedKernels> recorded_;
  bool uses_records_ = false, may_record_ = true;
  /// With records: fetches, and changes of variables, that wait until no other node is ready.
  std::vector<Activation> leaving_;
  std::vector<Slot> slots_;
  std::vector<Tensor> outputs_;  ///< the outputs of the kernel that runs
  std::vector<Slot> feeds_;
  std::vector<Tensor> fetched_;
  StepHost* host_ = nullptr;
  StepInfo info_;
  uint64_t call_ = 0;  ///< distinguishes the calls of functions in a step; 0: this is the step itself
  StepInbox inbox_;
  std::vector<StepArrival> taken_;
  struct PendingReads {
    Activation activation;
    uint32_t count;
  };
  std::vector<PendingReads> reads_;
  std::vector<std::shared_ptr<StateCell>> own_cells_;  ///< state that exists for this step alone
  std::vector<std::unique_ptr<KernelRun>> runs_;
  std::vector<KernelRun*> idle_runs_;
  size_t under_way_ = 0;  ///< the number of requests, reads and kernel runs that have not come back
  size_t copies_ = 0;     ///< of these, how many are copies to the host
  Status status_;
  StepProfile profile_;
  struct Requested {
    Activation activation;
    int64_t since = 0;  ///< as StepProfile::now() says it
  };
  struct GpuRun {
    uint32_t node = 0;
    void *begin = nullptr, *end = nullptr;  ///< marks of the GpuQueue
    int64_t issued = 0;                     ///< as StepProfile::now() says it
    uint64_t bytes = 0;                     ///< of the inputs
  };
  std::vector<GpuRun> gpu_runs_;      ///< for the profile
  std::vector<Requested> requested_;  ///< for the profile: the requests without a reply

  /// Held by the thread that drives the step and uses any of the members above; released while that thread runs a kernel beside
  /// another thread.
  std::mutex driving_;
  size_t drivers_ = 0;     ///< the number of threads that drive, threads inside such a kernel included
  size_t invited_ = 0;     ///< the number of threads that were invited and have not come yet
  bool running_ = false;   ///< true from start() to end()
  bool measures_ = false;  ///< this step measures the cost of kernels
  uint32_t steps_ = 0;     ///< the number of steps that were run in this context
};

}  // namespace troupe
