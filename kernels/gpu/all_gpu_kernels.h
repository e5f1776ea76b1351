// The kernels of GPUs: the compute functions of the files kernels/ops/*/*.cu, behind the same checks as those of CPUs.
#pragma once

#include "kernels/core/kernel.h"

namespace troupe {

/// Adds the kernels for the device type "GPU" to a library that has the ops.
void add_gpu_kernels(OpLibrary& library);

}  // namespace troupe
