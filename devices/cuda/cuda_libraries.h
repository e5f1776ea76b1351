// Loads cuBLASLt, cuDNN, NCCL and NVRTC. Only devices/cuda includes this header.
#pragma once

#include "devices/cuda/cuda_blas.h"
#include "devices/cuda/cuda_compiler.h"
#include "devices/cuda/cuda_dnn.h"
#include "devices/cuda/cuda_nccl.h"

namespace troupe {

/// Load the library and make a handle for the current GPU. Fail with Unavailable, naming the library and what is wrong. The
/// libraries stay loaded until the process ends.
Result<std::unique_ptr<CudaBlas>> load_blas();
Result<std::unique_ptr<CudaDnn>> load_dnn();
/// Load NVRTC, which needs no GPU, and NCCL. Fail as these do.
Result<CudaCompiler> load_compiler();
Result<CudaNccl> load_nccl();

}  // namespace troupe
