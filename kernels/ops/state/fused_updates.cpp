// _FusedApply(variables, scalars, gradients): the updates of N variables by one rule, in place of the N ops of training_ops.cpp.
//   method      what follows "Apply" in the name of these ops: "GradientDescent", "Adam"; or "AssignAdd", "AssignSub"
//   variables   those of the first update in the order of its op, then those of the second, and so on
//   scalars     the scalar inputs of the op in its order; all updates have the same
//   gradients   one for each update
// The attributes use_nesterov, update_slots and multiply_linear_by_lr are those of the ops. _FusedResourceApply is the same on
// resources. Only the pass fuse_updates makes these ops.
#include "kernels/ops/state/fused_updates.h"

#include <algorithm>

namespace troupe {
namespace {

const TrainingMethod* find_method(std::string_view name) {
  static const TrainingMethod assignments[] = {{"AssignAdd", Rule::Add, {"var", "delta"}, 1},
                                               {"AssignSub", Rule::Subtract, {"var", "delta"}, 1}};
  const std::span<const TrainingMethod> all[] = {training_methods(), assignments};
  for (const auto methods : all) {
    const auto found = std::ranges::find(methods, name, &TrainingMethod::name);
    if (found != methods.end()) return &*found;
  }
  return nullptr;
}

/// Returns the positions of the inputs of update k of `count`.
TrainingInputs inputs_of(const TrainingMethod& method, size_t k, size_t count) {
  TrainingInputs inputs;
  inputs.first_variable = k * method.variables;
  inputs.variables = method.variables;
  size_t position = count * method.variables;
  for (size_t i = method.variables; i < method.inputs.size(); ++i)
    if (!is_gradient(method.inputs[i])) inputs.place(method.inputs[i], position++);
  inputs.gradient = position + k;
  return inputs;
}

Status compute_fused_updates(const FusedUpdates& updates, DeviceContext& device) {
  for (const TrainingArguments& update : updates) TROUPE_RETURN_IF_FAILED(compute_training(update, device));
  return {};
}

Status no_outputs(ShapeContext&) { return {}; }

void add_fused_update_op(OpLibrary& library, bool resource) {
  library.op(OpDefBuilder(resource ? "_FusedResourceApply" : "_FusedApply")
                 .served_by(variable_service)
                 .effect(Effect::State)
                 .shape(no_outputs)
                 .input(resource ? "variables: V * resource" : "variables: Ref(V * T)")
                 .input("scalars: scalar_types")
                 .input("gradients: N * T")
                 .attr("method: string")
                 .attr("N: int >= 1")
                 .attr("V: int >= 1")
                 .attr("T: {half, float, double}")
                 .attr("scalar_types: list({half, float, double, int64}) >= 0")
                 .attr("use_nesterov: bool = false")
                 .attr("update_slots: bool = true")
                 .attr("multiply_linear_by_lr: bool = false"));
}

}  // namespace

Result<FusedUpdatesCheck> FusedUpdatesCheck::make(const PrepareContext& context) {
  const auto& name = context.attr<std::string>("method");
  const TrainingMethod* const method = find_method(name);
  if (!method) return invalid_argument("method \"" + name + "\" is no update rule");
  const auto count = static_cast<size_t>(context.attr<int64_t>("N")),
             variables = static_cast<size_t>(context.attr<int64_t>("V")),
             scalars = context.attr<std::vector<DType>>("scalar_types").size();
  if (variables != count * method->variables || scalars + 1 != method->inputs.size() - method->variables)
    return invalid_argument(std::to_string(count) + " updates by " + name + " have " +
                            std::to_string(count * method->variables) + " variables and " +
                            std::to_string(method->inputs.size() - method->variables - 1) + " scalars, not " +
                            std::to_string(variables) + " and " + std::to_string(scalars));
  FusedUpdatesCheck check;
  for (size_t k = 0; k < count; ++k)
    check.updates_.emplace_back(*method, inputs_of(*method, k, count), context.node);
  return check;
}

Result<FusedUpdates> FusedUpdatesCheck::operator()(KernelContext& context) const {
  FusedUpdates all;
  all.reserve(updates_.size());
  for (const TrainingCheck& update : updates_) {
    TROUPE_ASSIGN(all.emplace_back(), update(context));
  }
  return all;
}

void add_fused_update_kernels(OpLibrary& library, const std::string& device_type,
                              Status (*compute)(const FusedUpdates&, DeviceContext&)) {
  const auto prepare = [compute](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
    TROUPE_ASSIGN(auto check, FusedUpdatesCheck::make(context));
    return make_kernel(std::move(check), compute);
  };
  for (const char* op : {"_FusedApply", "_FusedResourceApply"})
    library.kernel(kernel_on(device_type, op, prepare).on("T", {DType::Float, DType::Double, DType::Half}));
}

void add_fused_updates(OpLibrary& library) {
  for (const bool resource : {false, true}) add_fused_update_op(library, resource);
  add_fused_update_kernels(library, "CPU", compute_fused_updates);
}

}  // namespace troupe
