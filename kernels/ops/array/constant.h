// Const, Fill and CheckNumerics: what every type of device computes after the check on the host, or prepares.
#pragma once

#include <memory>
#include <string>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// The kernel of a Const, from its value in the memory of the device. The function that prepares the kernel copies the value there.
std::unique_ptr<Kernel> make_const_kernel(Tensor value);

struct FillArguments {
  const Tensor& value;  ///< a scalar
  Tensor& output;       ///< each of its elements becomes the value
};

/// InvalidArgument when `dims` is no shape or the value is no scalar.
Result<FillArguments> check_fill(KernelContext& context);

/// InvalidArgument "<message> : Tensor had NaN values" when an element is not finite; it names Inf, NaN or both. The output is the
/// tensor itself.
struct CheckNumericsArguments {
  const Tensor& tensor;
  const std::string& message;  ///< an attribute of the node
};

Result<CheckNumericsArguments> check_check_numerics(KernelContext& context);

}  // namespace troupe
