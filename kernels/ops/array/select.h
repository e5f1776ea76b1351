// Select and SelectV2: what every type of device computes after the check on the host. If the condition is a scalar, the output can
// be one of the inputs as it is. Only the device knows which, so the kernel on CPUs measures first (make_measured_kernel). A type
// of device for which waiting costs more than copying need not measure: its check calls allocate_select() on what check_select()
// or check_select_v2() returned.
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
  const Tensor* chosen =
      nullptr;  ///< t or e, if measuring has found that the output is equal to it: there is nothing to compute
  Tensor* output = nullptr;

  const Shape& shape() const { return broadcast ? broadcast->shape() : t.shape(); }
};

/// InvalidArgument when t and e differ in shape, or the condition fits neither their elements nor their rows.
Result<SelectArguments> check_select(KernelContext& context);
/// InvalidArgument when the inputs do not broadcast.
Result<SelectArguments> check_select_v2(KernelContext& context);
/// Makes the output: the chosen input, or a tensor to be computed.
Status allocate_select(SelectArguments& arguments, KernelContext& context);

}  // namespace troupe
