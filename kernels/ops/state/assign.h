// AssignAdd and AssignSub: the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {

/// variable.after = variable.before + value, or variable.before - value for the ops that subtract.
struct AssignAddArguments {
  NewValue variable;
  const Tensor& value;  ///< has the dtype and shape of the variable
};

/// Checks AssignAdd, AssignSub, AssignAddVariableOp and AssignSubVariableOp. Fails with InvalidArgument if the shapes differ.
Result<AssignAddArguments> check_assign_add(KernelContext& context);

}  // namespace troupe
