// CudaCompiler: NVRTC, which compiles kernels at run time. It is loaded at run time, so that a program built with CUDA starts
// without it. Any thread may use it.
#pragma once

#include <nvrtc.h>

#include <string>

#include "messages/values/status.h"

namespace troupe {

struct CudaCompiler {
  decltype(&nvrtcGetErrorString) error_string = nullptr;
  decltype(&nvrtcGetNumSupportedArchs) architecture_count = nullptr;
  decltype(&nvrtcGetSupportedArchs) architectures = nullptr;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;
  decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&nvrtcGetPTX) ptx = nullptr;
};

/// Compiles a source for GPUs of a compute capability, such as 90: to a cubin or, if NVRTC does not know the capability, to PTX of
/// the latest one before it. Products and sums are not contracted. Fails with Internal, and what NVRTC says, if the source has a
/// mistake.
Result<std::string> compile_source(const CudaCompiler& compiler, const std::string& source, int capability);

}  // namespace troupe
