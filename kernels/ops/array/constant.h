// Fill and Empty: the checks on the host, and the arguments that they return to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the checks. For Const: its kernel on every type of device.
#pragma once

#include <memory>
#include <string>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Returns the kernel of a Const, from its value in the memory of the device. The function that prepares the kernel must copy
/// the value there.
std::unique_ptr<Kernel> make_const_kernel(Tensor value);

struct FillArguments {
  const Tensor& value;  ///< a scalar
  Tensor& output;       ///< all of its elements are set to the value
};

/// Fails with InvalidArgument if `dims` is no shape or the value is no scalar.
Result<FillArguments> check_fill(KernelContext& context);

struct EmptyArguments {
  Tensor& output;  ///< all of its elements are set to zero
};

/// Fails with InvalidArgument if `shape` is no shape.
Result<EmptyArguments> check_empty(KernelContext& context);

}  // namespace troupe
