// Failures of CUDA's functions as Status. Only devices/cuda includes this header. Any thread.
#pragma once

#include <cuda_runtime.h>

#include "messages/values/status.h"

namespace troupe {

/// Returns Ok for cudaSuccess; ResourceExhausted if memory is short; Unavailable if the GPU or its driver cannot be used any
/// more or at all; else Internal. `what` says what was tried: "copying a tensor to GPU:0".
Status cuda_status(cudaError_t error, const char* what);

}  // namespace troupe
