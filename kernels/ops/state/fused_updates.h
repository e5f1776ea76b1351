// Updates of several variables by one rule: the check on the host, and the arguments that it returns to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include <vector>

#include "kernels/ops/state/training_kernel.h"

namespace troupe {

/// One for each update; none has indices. The scalars are the same tensors.
using FusedUpdates = std::vector<TrainingArguments>;

/// Prepared for a node. Fails with InvalidArgument as TrainingCheck does.
class FusedUpdatesCheck {
 public:
  /// Fails with InvalidArgument if `method` names no rule, or the numbers of variables and scalars are not those of its ops.
  static Result<FusedUpdatesCheck> make(const PrepareContext& context);
  Result<FusedUpdates> operator()(KernelContext& context) const;

 private:
  std::vector<TrainingCheck> updates_;
};

/// Adds the kernels for a type of device.
void add_fused_update_kernels(OpLibrary& library, const std::string& device_type,
                              Status (*compute)(const FusedUpdates&, DeviceContext&));

}  // namespace troupe
