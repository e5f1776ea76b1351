// The library of all ops with the kernels of GPUs, which all tests share. Without CUDA these kernels run on the host. It is made
// once and never changed. Any thread may use it.
#pragma once

#include "kernels/core/kernel.h"

namespace troupe::test {

std::shared_ptr<const OpLibrary> gpu_library();

}  // namespace troupe::test
