// PreparedPlan: a Plan with what carries out each of its nodes on one device: kernels prepared, handles
// resolved to state cells. Immutable and shared by concurrent steps; what a step writes lives in a
// StepContext, of which it keeps the idle ones for reuse.
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

/// How a node is carried out.
enum class Action : uint8_t {
  Nothing,      ///< NoOp, ControlTrigger
  Forward,      ///< its input is its output: Enter, Exit, NextIteration, LoopCond, Identity, ReadVariableOp
  ForwardEach,  ///< each input is the output of the same number: IdentityN
  Switch,
  Merge,
  Handle,    ///< yields the handle of a cell
  Constant,  ///< yields the same tensor every time
  Feed,
  Fetch,
  Kernel,
  Stack,    ///< makes, fills or empties a stack of the step
  Request,  ///< the host is asked: Send, Recv, writes of variables, queues, ...
};

enum class StackAction : uint8_t { New, Push, Pop, Close };

struct PreparedNode {
  const Node* node = nullptr;
  const Kernel* kernel = nullptr;
  const Tensor* constant = nullptr;  ///< Constant: kept by the plan, in the memory of its device
  StateCell* cell = nullptr;         ///< Handle
  Action action = Action::Nothing;
  StackAction stack = StackAction::New;
  bool runs_dead = false;      ///< Send, Recv; a Fetch, which is then an error
  bool takes_handles = false;  ///< some input comes from a reference or resource edge
  bool reads_handles = false;  ///< it is the value behind a resource that is wanted
  bool takes_stacks = false;   ///< its resource may be a stack of the step
  bool needs_initialized = true;
  bool cheap = false;          ///< as its kernel says; it has inputs
  bool makes_strings = false;  ///< among its outputs are strings, whose contents are counted
};

/// The cell that a handle-producing node (VariableV2, VarHandleOp, FIFOQueueV2) stands for.
using ResolveState = std::function<Result<std::shared_ptr<StateCell>>(const Node&)>;

class StepContext;

class PreparedPlan {
 public:
  /// NotFound (or AlreadyExists: several) when an op has no kernel for the device, Unimplemented for what
  /// nobody carries out, and whatever `resolve` or the kernels' preparation say: with op, node and device.
  /// `device` must outlive the result.
  static Result<std::shared_ptr<const PreparedPlan>> make(std::shared_ptr<const Plan> plan,
                                                          const KernelTable& kernels, Device& device,
                                                          const ResolveState& resolve);
  ~PreparedPlan();

  const Plan& plan() const { return *plan_; }
  Device& device() const { return device_; }
  const std::string& device_name() const { return device_name_; }
  std::span<const PreparedNode> nodes() const { return nodes_; }
  /// No kernel of its own runs, and its nodes are few: a part of a step that only sends, receives, and has variables read and changed.
  bool is_light() const { return light_; }
  /// The value_index of a Merge whose input i was the live one.
  const Tensor& merge_index(uint32_t i) const { return merge_indices_[i]; }

  /// What the node's kernel took of late, in nanoseconds; 0 when it has not been measured. Any thread.
  int64_t cost(PlanId node) const { return costs_[node].load(std::memory_order_relaxed); }
  void note_cost(PlanId node, int64_t nanoseconds) const;

  /// A context for one step, new or used before; the step gives it back. Any thread.
  std::unique_ptr<StepContext> acquire() const;
  void release(std::unique_ptr<StepContext> context) const;

 private:
  friend class PlanPreparation;
  PreparedPlan(std::shared_ptr<const Plan> plan, Device& device);

  std::shared_ptr<const Plan> plan_;
  Device& device_;
  const std::string device_name_;
  std::vector<PreparedNode> nodes_;  ///< per node of the plan
  bool light_ = false;
  std::unique_ptr<std::atomic<int64_t>[]> costs_;  ///< per node of the plan
  std::vector<Tensor> merge_indices_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::deque<Tensor> constants_;
  std::vector<std::shared_ptr<StateCell>> cells_;
  mutable SpinLock idle_lock_;
  mutable std::vector<std::unique_ptr<StepContext>> idle_;
};

}  // namespace troupe
