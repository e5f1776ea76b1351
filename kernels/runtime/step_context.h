// StepContext: everything that one running step writes: its state, slots and inbox. Taken from the prepared
// plan's store for a step and given back, so that a step like the ones before it allocates nothing but
// tensors. Used by StepRunner, which says who may call what.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/plan/step_state.h"
#include "kernels/runtime/prepared_plan.h"
#include "kernels/runtime/step_inbox.h"
#include "kernels/runtime/step_profile.h"
#include "kernels/runtime/step_stacks.h"

namespace troupe {

/// A kernel at work on the device while its step goes on: what it reads and makes. Reused.
struct DeviceRun {
  const PreparedNode* node = nullptr;
  std::vector<Slot> inputs;
  std::vector<Tensor> outputs;
  StepInfo step;
  uint64_t frame_key = 0;
  Completion unfinished;  ///< what the kernel itself left to be done
};

class StepContext {
 public:
  explicit StepContext(const PreparedPlan& prepared);

  void start(StepHost& host, const StepInfo& info, std::span<Tensor> feeds);
  void drive();
  StepInbox& inbox() { return inbox_; }
  std::span<Tensor> fetched() { return fetched_; }
  const StepProfile& profile() const { return profile_; }
  /// Lets go of the tensors of the step that has ended.
  void recycle();

 private:
  // How outputs reach their slots: see StepState::done().
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

  void run(Activation activation);
  void carry_out(Activation activation);
  void run_dead(Activation activation, const PreparedNode& node);
  void forward(Activation activation);
  void run_switch(Activation activation);
  void run_merge(Activation activation);
  void run_stack(Activation activation, const PreparedNode& node);
  Status work_stack(const PreparedNode& node, const Slot* inputs);
  void fetch(Activation activation);
  void request(Activation activation, const PreparedNode& node);
  void run_kernel(Activation activation, const PreparedNode& node);
  void flush_before(Activation activation, const PreparedNode& node);
  void finish_kernel(Activation activation, const PreparedNode& node);
  void run_on_device(Activation activation, const PreparedNode& node);
  void leave_to_device(Activation activation, const PreparedNode& node, const Completion& completion);
  DeviceRun* new_run(Activation activation, const PreparedNode& node);
  void watch(Activation activation, DeviceRun* run, const Completion& completion);
  void announce(Activation activation, DeviceRun* run, Status status);

  bool read_handles(Activation activation, const PreparedNode& node);
  bool is_resource(const PreparedNode& node, uint32_t input) const;
  bool read_handle(Activation activation, const PreparedNode& node, uint32_t input, Slot& slot);

  bool receive(bool park);
  void settle(StepArrival& arrival);
  void settle_read(const StepArrival& arrival, Tensor value);
  void settle_outputs(Activation activation, StepReply& reply);
  void fail(Status status);
  void fail(const PreparedNode& node, Status status);
  void begin_profile();
  void note_driven();
  void check_fetches();
  void end();

  Slot* inputs(Activation activation) { return slots_.data() + state_.first_slot(activation); }
  uint32_t input_count(Activation activation) const { return plan_.nodes()[activation.node].inputs; }
  void clear_inputs(Activation activation);
  uint64_t frame_key(Activation activation) const;

  const PreparedPlan& prepared_;
  const Plan& plan_;
  const PreparedNode* const nodes_;
  DeviceContext& device_;
  const bool synchronous_;
  StepState state_;
  std::vector<Slot> slots_;
  std::vector<Tensor> outputs_;  ///< of the kernel that runs
  std::vector<Tensor> feeds_, fetched_;
  StepStacks stacks_;
  StepHost* host_ = nullptr;
  StepInfo info_;
  StepInbox inbox_;
  std::vector<StepArrival> taken_;
  struct PendingReads {
    Activation activation;
    uint32_t count;
  };
  std::vector<PendingReads> reads_;
  std::vector<std::unique_ptr<DeviceRun>> runs_;
  std::vector<DeviceRun*> idle_runs_;
  size_t under_way_ = 0;  ///< requests, reads and device work that have not come back
  Status status_;
  StepProfile profile_;
  int64_t driven_since_ = 0;  ///< when somebody drives a step that is profiled
};

}  // namespace troupe
