// Equal and NotEqual without incompatible_shape_error: the check on the host, and the arguments that it returns to the compute
// function of each type of device (kernels/core/checked_kernel.h). Any thread may call the check. With
// incompatible_shape_error, they are like other elementwise ops (kernels/loops/elementwise.h).
#pragma once

#include "kernels/loops/elementwise.h"

namespace troupe {

/// The output compares the elements of both inputs. If their shapes do not broadcast, it is one bool that says that the inputs
/// are not equal.
struct EqualityArguments {
  BinaryArguments elements;  ///< if the shapes do not broadcast, only `out` is set
  bool broadcasts = false;
};
Result<EqualityArguments> check_equality(KernelContext& context);

}  // namespace troupe
