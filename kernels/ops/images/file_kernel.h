// A kernel of the CPU that does all of its work in one function: those that read or write strings. Any thread may call it.
#pragma once

#include "kernels/core/kernel.h"

namespace troupe {

inline KernelDef cpu_host_kernel(std::string op, KernelFunction function) {
  return kernel_on("CPU", std::move(op), [function](const PrepareContext&) {
    return Result<std::unique_ptr<Kernel>>(std::make_unique<HostKernel<KernelFunction>>(function));
  });
}

}  // namespace troupe
