// The update rules of optimizers on variables (features.md section Q; kernels/loops/update_rules.h has the formulas).
//   ApplyGradientDescent(var, alpha, delta)
//   ApplyMomentum(var, accum, lr, grad, momentum)      use_nesterov
//   ApplyKerasMomentum(var, accum, lr, grad, momentum)      use_nesterov; on resources only
//   ApplyAdagrad(var, accum, lr, grad)      update_slots
//   ApplyAdagradV2(var, accum, lr, epsilon, grad)      update_slots
//   ApplyAdam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)      use_nesterov
//   ApplyAdamWithAmsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)
//   ApplyAdaMax(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad)
//   ApplyLion(var, m, lr, beta1, beta2, grad)
//   ApplyAddSign(var, m, lr, alpha, sign_decay, beta, grad)
//   ApplyPowerSign(var, m, lr, logbase, sign_decay, beta, grad)
//   ApplyLars(var, accum, lr, grad, momentum, weight_decay, trust_coefficient, epsilon)
//   ApplyLamb(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, weight_decay, grad)
//   ApplyRMSProp(var, ms, mom, lr, rho, momentum, epsilon, grad)
//   ApplyCenteredRMSProp(var, mg, ms, mom, lr, rho, momentum, epsilon, grad)
//   ApplyAdadelta(var, accum, accum_update, lr, rho, epsilon, grad)
//   ApplyFtrl(var, accum, linear, grad, lr, l1, l2, lr_power)      multiply_linear_by_lr
//   ApplyFtrlV2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power)      multiply_linear_by_lr
//   ApplyProximalGradientDescent(var, alpha, l1, l2, delta)
//   ApplyProximalAdagrad(var, accum, lr, l1, l2, grad)
//   ApplyAdagradDA(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step)
//   ResourceApply...: the same on resources, without an output
//   SparseApply..., ResourceSparseApply...(..., grad, indices, ...): update row indices[i] of the variables with grad[i]; a row
//   that occurs several times is updated once for each occurrence, in order. If an index is out of range, nothing is written.
//   TensorFlow has no such ops for GradientDescent, Adam, AdamWithAmsgrad, AdaMax, AddSign and PowerSign; here they leave all
//   other rows of the moments as they are. It has ApplyAdamWithAmsgrad on resources only, and no Lion, Lars and Lamb. The latter
//   two, whose rate depends on the norm of the whole variable (kernels/loops/trust_ratio.h), have no ops on rows
// All variables and the gradient have one shape; inputs other than variables, gradient and indices are scalars. Each kernel
// computes the new value of every variable, so that one op on several variables is one atomic update. use_locking is accepted and
// has no effect.
#include "kernels/ops/state/training_kernel.h"

namespace troupe {
namespace {

std::vector<TrainingMethod> make_methods() {
  return {
      {"GradientDescent", Rule::GradientDescent, {"var", "alpha", "delta"}, 1},
      {"Momentum", Rule::Momentum, {"var", "accum", "lr", "grad", "momentum"}, 2, true, Rule::Nesterov},
      {"KerasMomentum",
       Rule::KerasMomentum,
       {"var", "accum", "lr", "grad", "momentum"},
       2,
       false,
       Rule::KerasNesterov},
      {"Adagrad", Rule::Adagrad, {"var", "accum", "lr", "grad"}, 2},
      {"AdagradV2", Rule::Adagrad, {"var", "accum", "lr", "epsilon", "grad"}, 2},
      {"Adam",
       Rule::Adam,
       {"var", "m", "v", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"},
       3,
       true,
       Rule::NesterovAdam},
      {"AdamWithAmsgrad",
       Rule::AmsGrad,
       {"var", "m", "v", "vhat", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"},
       4},
      {"AdaMax",
       Rule::AdaMax,
       {"var", "m", "v", "beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"},
       3},
      {"Lion", Rule::Lion, {"var", "m", "lr", "beta1", "beta2", "grad"}, 2},
      {"AddSign", Rule::AddSign, {"var", "m", "lr", "alpha", "sign_decay", "beta", "grad"}, 2},
      {"PowerSign", Rule::PowerSign, {"var", "m", "lr", "logbase", "sign_decay", "beta", "grad"}, 2},
      {"Lars",
       Rule::Lars,
       {"var", "accum", "lr", "grad", "momentum", "weight_decay", "trust_coefficient", "epsilon"},
       2,
       true,
       Rule::Lars,
       false},
      {"Lamb",
       Rule::Lamb,
       {"var", "m", "v", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "weight_decay",
        "grad"},
       3,
       true,
       Rule::Lamb,
       false},
      {"RMSProp", Rule::RmsProp, {"var", "ms", "mom", "lr", "rho", "momentum", "epsilon", "grad"}, 3},
      {"CenteredRMSProp",
       Rule::CenteredRmsProp,
       {"var", "mg", "ms", "mom", "lr", "rho", "momentum", "epsilon", "grad"},
       4},
      {"Adadelta", Rule::Adadelta, {"var", "accum", "accum_update", "lr", "rho", "epsilon", "grad"}, 3},
      {"Ftrl", Rule::Ftrl, {"var", "accum", "linear", "grad", "lr", "l1", "l2", "lr_power"}, 3},
      {"FtrlV2",
       Rule::Ftrl,
       {"var", "accum", "linear", "grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"},
       3},
      {"ProximalGradientDescent", Rule::ProximalGradientDescent, {"var", "alpha", "l1", "l2", "delta"}, 1},
      {"ProximalAdagrad", Rule::ProximalAdagrad, {"var", "accum", "lr", "l1", "l2", "grad"}, 2},
      {"AdagradDA",
       Rule::AdagradDa,
       {"var", "gradient_accumulator", "gradient_squared_accumulator", "grad", "lr", "l1", "l2",
        "global_step"},
       3},
  };
}

void add_inputs(OpDefBuilder& definition, const TrainingMethod& method, bool resource, bool rows) {
  for (size_t i = 0; i < method.inputs.size(); ++i) {
    const bool gradient = is_gradient(method.inputs[i]);
    const std::string input(gradient && rows ? "grad" : method.inputs[i]);
    const char* const variable = resource ? ": resource" : ": Ref(T)";
    const char* const scalar = input == "global_step" ? ": int64" : ": T";
    definition.input(input + (i < method.variables ? variable : scalar));
    if (gradient && rows) definition.input("indices: Tindices").attr("Tindices: {int32, int64}");
  }
}

void add_attrs(OpDefBuilder& definition, const TrainingMethod& method) {
  definition.attr("T: numbertype").attr("use_locking: bool = false");
  if (method.nesterov != method.rule) definition.attr("use_nesterov: bool = false");
  if (method.rule == Rule::Adagrad) definition.attr("update_slots: bool = true");
  if (method.rule == Rule::Ftrl) definition.attr("multiply_linear_by_lr: bool = false");
}

std::string name_of(const TrainingMethod& method, bool resource, bool rows) {
  return std::string(resource ? "Resource" : "") + (rows ? "Sparse" : "") + "Apply" +
         std::string(method.name);
}

void add_training_op(OpLibrary& library, const TrainingMethod& method, bool resource, bool rows) {
  OpDefBuilder definition(name_of(method, resource, rows));
  add_inputs(definition, method, resource, rows);
  if (!resource) definition.output("out: Ref(T)");
  add_attrs(definition, method);
  definition.served_by(variable_service).effect(Effect::State).shape(training_shape);
  library.op(definition);
}

/// Calls add(method, whether it is on resources, whether it is on rows) for every op.
template <class AddOp>
void for_training_ops(const AddOp& add) {
  for (const TrainingMethod& method : training_methods())
    for (const bool rows : {false, true})
      for (const bool resource : {false, true})
        if ((resource || method.on_refs) && (!rows || method.on_rows)) add(method, resource, rows);
}

}  // namespace

std::span<const TrainingMethod> training_methods() {
  static const std::vector<TrainingMethod> methods = make_methods();
  return methods;
}

bool is_gradient(std::string_view input) { return input == "grad" || input == "delta"; }

void add_training_kernels(OpLibrary& library, const std::string& device_type,
                          Status (*compute)(const TrainingArguments&, DeviceContext&)) {
  for_training_ops([&](const TrainingMethod& method, bool resource, bool rows) {
    const auto prepare = [&method, compute](const PrepareContext& context) {
      const TrainingInputs inputs(*context.node.op);
      return Result(make_kernel(TrainingCheck(method, inputs, context.node), compute));
    };
    library.kernel(kernel_on(device_type, name_of(method, resource, rows), prepare)
                       .on("T", {DType::Float, DType::Double, DType::Half}));
  });
}

void add_training_ops(OpLibrary& library) {
  for_training_ops([&](const TrainingMethod& method, bool resource, bool rows) {
    add_training_op(library, method, resource, rows);
  });
  add_training_kernels(library, "CPU", compute_training);
}

}  // namespace troupe
