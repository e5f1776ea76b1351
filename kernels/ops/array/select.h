// Select and SelectV2: the checks on the host, and the arguments that they return to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the checks. If the condition is a scalar, the output can be one
// of the inputs. Only the device knows which, so the kernel on CPUs measures first (make_measured_kernel). A type of device for
// which waiting costs more than copying need not measure: its check calls allocate_select() with the result of check_select()
// or check_select_v2().
#pragma once

#include <optional>

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/broadcast.h"

namespace troupe {

/// output[i] = condition[i / per_condition] ? t[i] : e[i]; or, with `broadcast`, output[i] = condition[j] ? t[k] : e[l], where j, k
/// and l follow from i by broadcasting.
struct SelectArguments {
  const Tensor &condition, &t, &e;
  size_t per_condition = 1;
  std::optional<Broadcast<3>> broadcast = std::nullopt;
  /// The input t or e, if measuring has found that the output is equal to it: nothing is computed then. Else null.
  const Tensor* chosen = nullptr;
  Tensor* output = nullptr;

  const Shape& shape() const { return broadcast ? broadcast->shape() : t.shape(); }
};

/// Fails with InvalidArgument if t and e differ in shape, or the condition matches neither their elements nor their rows.
Result<SelectArguments> check_select(KernelContext& context);
/// Fails with InvalidArgument if the inputs do not broadcast.
Result<SelectArguments> check_select_v2(KernelContext& context);
/// Sets the output to the chosen input, or allocates it if it has to be computed.
Status allocate_select(SelectArguments& arguments, KernelContext& context);

}  // namespace troupe
