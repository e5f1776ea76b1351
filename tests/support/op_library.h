// The libraries of all ops, which all tests share. They are made once and never changed. Any thread may use them.
#pragma once

#include "kernels/core/kernel.h"

namespace troupe::test {

std::shared_ptr<const OpLibrary> op_library();
/// Returns the library with the kernels of GPUs. Without CUDA they run on the host.
std::shared_ptr<const OpLibrary> gpu_library();

}  // namespace troupe::test
