// Equal and NotEqual without incompatible_shape_error: what every type of device computes after the check on the host. With it they
// are as other elementwise ops (kernels/loops/elementwise.h).
#pragma once

#include "kernels/loops/elementwise.h"

namespace troupe {

/// The output compares the elements of both inputs, or, when their shapes do not broadcast, is one bool: that they are not equal.
struct EqualityArguments {
  BinaryArguments elements;  ///< when the shapes do not broadcast, only `out` is set
  bool broadcasts;
};
Result<EqualityArguments> check_equality(KernelContext& context);

}  // namespace troupe
