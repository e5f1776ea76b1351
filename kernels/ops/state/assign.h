// AssignAdd and AssignSub: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {

/// variable.after = variable.before + value, or - value for the ops of subtraction.
struct AssignAddArguments {
  NewValue variable;
  const Tensor& value;  ///< has the variable's dtype and shape
};

/// For AssignAdd, AssignSub, AssignAddVariableOp and AssignSubVariableOp. InvalidArgument when the shapes differ.
Result<AssignAddArguments> check_assign_add(KernelContext& context);

}  // namespace troupe
