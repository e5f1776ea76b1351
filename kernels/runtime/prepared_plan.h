// PreparedPlan: a Plan together with the means to run each of its nodes on one device: prepared kernels, and state cells for
// handles. It is immutable and concurrent steps share it. Everything that a step writes is in a StepContext; the plan keeps
// idle contexts for reuse.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/plan/plan.h"
#include "kernels/core/kernel.h"
#include "kernels/core/state.h"

namespace troupe {

/// Action: how a step runs a node.
enum class Action : uint8_t {
  Nothing,      ///< nothing is computed: NoOp, ControlTrigger
  Forward,      ///< the output is the input: Enter, Exit, NextIteration, LoopCond, Identity, ReadVariableOp
  ForwardEach,  ///< output i is input i: IdentityN
  Switch,
  Merge,
  Handle,    ///< the output is the handle of a cell
  Constant,  ///< the output is the same tensor in every step
  Feed,
  Fetch,
  Kernel,
  Request,  ///< the StepHost carries the node out: Send, Recv, writes of variables, queues, ...
};

/// Which device a Send sends to, if that is a GPU that may copy the tensor from this one.
enum class ToGpu : uint8_t { None, SameTask, OtherTask };

struct PreparedNode {
  const Node* node = nullptr;
  const Kernel* kernel = nullptr;
  /// If Action::Constant, the value, where the nodes that take it expect it; the plan keeps it.
  const Tensor* constant = nullptr;
  /// If Action::Handle, the cell; if Action::Request, the cell of the state that the node names itself, if it does.
  StateCell* cell = nullptr;
  Action action = Action::Nothing;
  /// True if the node runs with dead inputs, too: Send, Recv, and Fetch, which then fails the step.
  bool runs_dead = false;
  bool takes_handles = false;  ///< an input comes from a reference or resource edge
  bool reads_handles = false;  ///< the node needs the values of its resources, not their handles
  /// A resource input may be a handle of a StepObject.
  bool takes_step_objects = false;
  bool needs_initialized = true;
  bool cheap = false;  ///< the kernel is cheap (KernelDef::cheap) and the node has inputs
  /// For a request: its inputs may be kept after the step, as by Assign and by queues.
  bool keeps_inputs = false;
  bool host_only = false;   ///< the kernel does no work on the device
  bool reads_back = false;  ///< the kernel is a ReadBackKernel
  /// A kernel of CPUs computes the node in host memory, for a device with memory of its own.
  bool by_cpu_kernel = false;
  bool makes_strings = false;  ///< an output is a string tensor, whose contents count as memory
  /// For a feed, a fetch, and a request that sends or receives a tensor, on a device with memory of its own: the tensor belongs
  /// there. What arrives is copied there, and what leaves is copied to the host.
  bool crosses_memory = false;
  ToGpu to_gpu = ToGpu::None;  ///< for a Send that crosses memory
};

/// Returns the cell of a node that names state (VariableV2, VarHandleOp, FIFOQueueV2, Stage).
using ResolveState = std::function<Result<std::shared_ptr<StateCell>>(const Node&)>;

/// What a plan is of. Results of a function may be of dtypes that cannot leave a step.
enum class PlanOf : uint8_t { Partition, Function };

class StepContext;

class PreparedPlan {
 public:
  /// Prepares a plan. Fails with NotFound if an op has no kernel for the device, AlreadyExists if it has several, Unimplemented
  /// if nothing can carry the op out, and with the failures of `resolve` and of the kernels' preparation; every error names op,
  /// node and device. `device` must outlive the result.
  static Result<std::shared_ptr<const PreparedPlan>> make(std::shared_ptr<const Plan> plan,
                                                          const KernelTable& kernels, Device& device,
                                                          const ResolveState& resolve,
                                                          PlanOf what = PlanOf::Partition);
  ~PreparedPlan();

  const Plan& plan() const { return *plan_; }
  Device& device() const { return device_; }
  /// Returns what the kernel of a node gets as its device. Any thread may call it.
  DeviceContext& context_of(const PreparedNode& node) const {
    return node.by_cpu_kernel ? host_context_ : device_.context();
  }
  const std::string& device_name() const { return device_name_; }
  std::span<const PreparedNode> nodes() const { return nodes_; }
  /// Returns whether the plan has few nodes and no kernels: such a part of a step only sends, receives, and requests reads and
  /// changes of variables.
  bool is_light() const { return light_; }
  /// Returns the output value_index of a Merge whose live input is input i.
  const Tensor& merge_index(uint32_t i) const { return merge_indices_[i]; }

  /// Returns the recent duration of the node's kernel in nanoseconds, 0 if it has not been measured. Any thread may call it.
  int64_t cost(PlanId node) const { return costs_[node].load(std::memory_order_relaxed); }
  /// Adds a measured duration, in nanoseconds, to the average that cost() returns. Any thread may call it.
  void record_cost(PlanId node, int64_t nanoseconds) const;

  /// Returns how many bytes the context of one step takes, without its tensors.
  size_t context_bytes() const;
  /// Return a context for one step, new or used before, and take it back after the step. Any thread may call them.
  std::unique_ptr<StepContext> acquire() const;
  void release(std::unique_ptr<StepContext> context) const;

 private:
  friend class PlanPreparation;
  PreparedPlan(std::shared_ptr<const Plan> plan, Device& device);

  std::shared_ptr<const Plan> plan_;
  Device& device_;
  const std::string device_name_;
  mutable DeviceContext host_context_;  ///< computes in host memory, for the device
  std::vector<PreparedNode> nodes_;     ///< for each node of the plan
  bool light_ = false;
  std::unique_ptr<std::atomic<int64_t>[]> costs_;  ///< for each node of the plan
  std::vector<Tensor> merge_indices_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::deque<Tensor> constants_;
  std::vector<std::shared_ptr<StateCell>> cells_;
  mutable SpinLock idle_lock_;
  mutable std::vector<std::unique_ptr<StepContext>> idle_;
};

}  // namespace troupe
