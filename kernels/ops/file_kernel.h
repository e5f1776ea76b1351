// Kernels of the CPU that do all of their work in one function: those that read or write strings such as the contents of files.
// Any thread may call the functions.
#pragma once

#include <string_view>

#include "kernels/core/kernel.h"

namespace troupe {

inline KernelDef cpu_host_kernel(std::string op, KernelFunction function) {
  return kernel_on("CPU", std::move(op), [function](const PrepareContext&) {
    return Result<std::unique_ptr<Kernel>>(std::make_unique<HostKernel<KernelFunction>>(function));
  });
}

/// Returns the string that input 0 holds, the contents of a file. Fails with InvalidArgument if the input is no scalar.
inline Result<std::string_view> contents_of(const KernelContext& context) {
  const Tensor& contents = context.input(0);
  if (!contents.shape().is_scalar())
    return invalid_argument("contents of shape " + contents.shape().text() + " must be a scalar");
  return std::string_view(contents.as<std::string>()[0]);
}

}  // namespace troupe
