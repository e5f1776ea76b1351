#include "kernels/runtime/prepared_plan.h"

#include <algorithm>
#include <utility>

#include "devices/transfer.h"
#include "graph/build/host_integers.h"
#include "graph/passes/partition/memory_kinds.h"
#include "kernels/core/read_back.h"
#include "kernels/runtime/step_context.h"

namespace troupe {
namespace {

/// Returns the tensors that output value_index of a Merge can be.
std::vector<Tensor> merge_indices(const Plan& plan) {
  uint32_t max_inputs = 0;
  for (const PlanNode& node : plan.nodes())
    if (node.kind == PlanKind::Merge) max_inputs = std::max(max_inputs, node.inputs);
  std::vector<Tensor> indices;
  for (uint32_t i = 0; i < max_inputs; ++i) indices.push_back(Tensor::scalar(static_cast<int32_t>(i)));
  return indices;
}

/// How many contexts a plan keeps. A recursion may have had thousands at a time.
constexpr size_t max_idle = 64;

bool is_handle(EdgeType type) { return type.is_ref || type.dtype == DType::Resource; }

bool yields_handle(const Node& node) {
  return node.op->effect != Effect::Step && node.inputs.empty() && !node.output_types.empty() &&
         is_handle(node.output_types[0]);
}

/// Returns true for a node that a service carries out and that names its state itself: it works on the state without a handle
/// (Stage), or yields the handle of state that is made of its inputs (MutableDenseHashTable).
bool names_state(const Node& node) {
  return node.op->served_by == ServedBy::Service && node.op->effect == Effect::State &&
         node.op->find_attr("shared_name");
}

bool forwards_inputs(Action action) {
  return action == Action::Switch || action == Action::Merge || action == Action::Forward ||
         action == Action::ForwardEach;
}

bool needs_initialized(const Node& node) {
  const AttrValue* const asked = node.attrs.find("_initialized");
  return !node.op->allows_uninitialized_input || (asked && std::get<bool>(*asked));
}

/// Returns true for kernels of stacks and TensorArrays, which take handles of step objects as they are.
bool works_on_step_objects(const Node& node, Action action) {
  return action == Action::Kernel && node.op->effect == Effect::Step;
}

/// Returns the action of an op that needs no kernel; Action::Kernel for all others.
Action action_of(const Node& node) {
  switch (flow_kind(node)) {
    case FlowKind::Switch: return Action::Switch;
    case FlowKind::Merge: return Action::Merge;
    case FlowKind::Enter:
    case FlowKind::Exit:
    case FlowKind::NextIteration:
    case FlowKind::LoopCond: return Action::Forward;
    case FlowKind::ControlTrigger: return Action::Nothing;
    case FlowKind::None: break;
  }
  const std::string& op = node.type();
  if (op == "NoOp") return Action::Nothing;
  if (op == "Identity" || op == "RefIdentity" || op == "ReadVariableOp") return Action::Forward;
  if (op == "IdentityN") return Action::ForwardEach;
  if (yields_handle(node)) return Action::Handle;
  if (is_transfer(*node.op)) return Action::Request;
  return node.op->served_by == ServedBy::Service ? Action::Request : Action::Kernel;
}

}  // namespace

class PlanPreparation {
 public:
  PlanPreparation(std::shared_ptr<const Plan> plan, const KernelTable& kernels, Device& device,
                  const ResolveState& resolve, PlanOf what)
      : kernels_(kernels), resolve_(resolve), what_(what),
        prepared_(new PreparedPlan(std::move(plan), device)) {}

  Result<std::shared_ptr<const PreparedPlan>> run() && {
    const Plan& plan = prepared_->plan();
    prepared_->merge_indices_ = merge_indices(plan);
    if (prepared_->device().memory_kind() == MemoryKind::Device)
      host_values_ = find_host_values(plan.graph(), [](NodeId, NodeId) { return true; });
    prepared_->nodes_.reserve(plan.nodes().size());
    for (PlanId id = 0; id < plan.nodes().size(); ++id) {
      PreparedNode& node = prepared_->nodes_.emplace_back();
      node.node = &plan.node(id);
      if (Status status = prepare(plan.nodes()[id], node); !status.ok())
        return std::move(status)
            .at_node(node.node->type(), node.node->name)
            .at_device(prepared_->device_name());
    }
    prepared_->light_ = is_light(plan);
    return std::shared_ptr<const PreparedPlan>(std::move(prepared_));
  }

 private:
  bool is_light(const Plan& plan) const {
    constexpr size_t max_nodes = 128;
    return !plan.has_loops() && plan.nodes().size() <= max_nodes &&
           std::ranges::none_of(prepared_->nodes_,
                                [](const PreparedNode& node) { return node.action == Action::Kernel; });
  }

  Status prepare(const PlanNode& plan_node, PreparedNode& node) {
    const Graph& graph = prepared_->plan().graph();
    if (plan_node.kind == PlanKind::Feed) {
      node.action = Action::Feed;
      node.crosses_memory =
          what_ == PlanOf::Partition && !host_values_.empty() && !host_values_[node.node->id];
      return {};
    }
    if (plan_node.kind == PlanKind::Fetch)
      return prepare_fetch(prepared_->plan().fetches()[plan_node.index], node);
    node.action = action_of(*node.node);
    node.runs_dead = is_transfer(*node.node->op);
    node.crosses_memory = node.runs_dead && is_on_device(*node.node, !node.node->inputs.empty());
    if (node.crosses_memory && node.node->type() == "_Send") node.to_gpu = receiver_of(*node.node);
    for (const EdgeType& type : node.node->output_types) node.makes_strings |= type.dtype == DType::String;
    for (const Output& input : node.node->inputs) node.takes_handles |= is_handle(graph.type(input));
    node.needs_initialized = needs_initialized(*node.node);
    const bool works_on_objects = works_on_step_objects(*node.node, node.action);
    node.reads_handles =
        node.node->type() == "ReadVariableOp" || (node.action == Action::Kernel && !works_on_objects);
    node.takes_step_objects = works_on_objects || (!node.reads_handles && forwards_inputs(node.action));
    const bool names_own = node.action == Action::Request && names_state(*node.node);
    if (node.action == Action::Handle || names_own) return resolve(node);
    if (node.action == Action::Kernel) return prepare_kernel(node);
    if (node.action == Action::Request) node.keeps_inputs = keeps_inputs(*node.node);
    return {};
  }

  /// Returns false only for update rules that compute on the device, from values that they do not keep.
  bool keeps_inputs(const Node& node) const {
    const auto rule = kernels_.find(node, prepared_->device().type());
    return !rule || (*rule)->device_type == any_device;
  }

  Status prepare_fetch(Output fetch, PreparedNode& node) {
    const EdgeType type = prepared_->plan().graph().type(fetch);
    if (is_local(type.dtype) && what_ == PlanOf::Partition)
      return invalid_argument("a tensor of dtype " + std::string(name(type.dtype)) + " cannot be fetched");
    node.action = Action::Fetch;
    node.runs_dead = true;
    node.crosses_memory =
        what_ == PlanOf::Partition && prepared_->device().memory_kind() == MemoryKind::Device;
    node.takes_handles = type.is_ref;
    return {};
  }

  /// Returns whether input 0 of the node, or output 0, is in memory that the device has for itself.
  bool is_on_device(const Node& node, bool is_input) const {
    if (prepared_->device().memory_kind() != MemoryKind::Device) return false;
    const Graph& graph = prepared_->plan().graph();
    const DType dtype = is_input ? graph.dtype(node.inputs[0]) : graph.dtype({node.id, 0});
    return !lies_on_host(node, 0, is_input, dtype);
  }

  ToGpu receiver_of(const Node& send) const {
    const DeviceName& own = prepared_->device().name();
    const auto receiver = DeviceName::parse(send.attrs.get<std::string>("recv_device"));
    if (!receiver || own.type != "GPU" || receiver->type != "GPU" || send.attrs.get<bool>("recv_on_host"))
      return ToGpu::None;
    const bool same =
        receiver->job == own.job && receiver->replica == own.replica && receiver->task == own.task;
    return same ? ToGpu::SameTask : ToGpu::OtherTask;
  }

  Status resolve(PreparedNode& node) {
    TROUPE_ASSIGN(auto cell, resolve_(*node.node));
    node.cell = cell.get();
    prepared_->cells_.push_back(std::move(cell));
    return {};
  }

  Status prepare_kernel(PreparedNode& node) {
    if (node.node->op->served_by != ServedBy::Kernel)
      return unimplemented("this op cannot run in a plan: neither a kernel nor a service carries it out");
    Device& device = prepared_->device();
    TROUPE_ASSIGN(const KernelDef* def, kernels_.find(*node.node, device.type()));
    node.by_cpu_kernel = device.memory_kind() == MemoryKind::Device && computes_integers_on_host(*node.node);
    DeviceContext& context = prepared_->context_of(node);
    TROUPE_ASSIGN(auto kernel, def->prepare({prepared_->plan().graph(), *node.node, context}));
    node.kernel = kernel.get();
    node.reads_back = dynamic_cast<const ReadBackKernel*>(node.kernel) != nullptr;
    node.cheap = def->cheap && !node.node->inputs.empty();
    node.host_only = def->device_type == any_device || node.by_cpu_kernel;
    const Tensor* const constant = kernel->constant();
    prepared_->kernels_.push_back(std::move(kernel));
    return constant ? prepare_constant(*constant, node) : Status{};
  }

  Status prepare_constant(const Tensor& value, PreparedNode& node) {
    const bool stays = !host_values_.empty() && host_values_[node.node->id];
    TROUPE_ASSIGN(Tensor there, stays ? value : transfer(value, prepared_->device(), prepared_->device()));
    node.constant = &prepared_->constants_.emplace_back(std::move(there));
    node.action = Action::Constant;
    return {};
  }

  const KernelTable& kernels_;
  const ResolveState& resolve_;
  const PlanOf what_;
  std::shared_ptr<PreparedPlan> prepared_;
  std::vector<bool> host_values_;  ///< by node; empty if the device computes in host memory
};

PreparedPlan::PreparedPlan(std::shared_ptr<const Plan> plan, Device& device)
    : plan_(std::move(plan)), device_(device), device_name_(device.name().text()),
      host_context_(device.context().host_memory(), device.context().pool()),
      costs_(std::make_unique<std::atomic<int64_t>[]>(plan_->nodes().size())) {}
PreparedPlan::~PreparedPlan() = default;

Result<std::shared_ptr<const PreparedPlan>> PreparedPlan::make(std::shared_ptr<const Plan> plan,
                                                               const KernelTable& kernels, Device& device,
                                                               const ResolveState& resolve, PlanOf what) {
  return PlanPreparation(std::move(plan), kernels, device, resolve, what).run();
}

void PreparedPlan::record_cost(PlanId node, int64_t nanoseconds) const {
  const int64_t before = cost(node);
  costs_[node].store(before == 0 ? nanoseconds : (3 * before + nanoseconds) / 4, std::memory_order_relaxed);
}

size_t PreparedPlan::context_bytes() const {
  size_t slots = 0;
  for (const PlanNode& node : plan_->nodes()) slots += node.inputs;
  return sizeof(StepContext) + slots * sizeof(Slot) +
         plan_->nodes().size() * (sizeof(PendingCount) + sizeof(Activation));
}

std::unique_ptr<StepContext> PreparedPlan::acquire() const {
  {
    const std::lock_guard guard(idle_lock_);
    if (!idle_.empty()) {
      auto context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  return std::make_unique<StepContext>(*this);
}

void PreparedPlan::release(std::unique_ptr<StepContext> context) const {
  const std::lock_guard guard(idle_lock_);
  if (idle_.size() < max_idle) idle_.push_back(std::move(context));
}

}  // namespace troupe
