// Kernels whose source is made and compiled at run time, by NVRTC: for programs that are known only then. The source of a kernel
// follows the text of some headers of this folder, which it may use:
//
//   void program(const FourArguments& given, size_t call)     computes four elements
//
// Any thread may call these functions.
#pragma once

#include <string>

#include "devices/device.h"
#include "kernels/gpu/fours.h"

namespace troupe::gpu {

/// Returns the whole source, for GpuQueue::compiled(), of a kernel that consists of the function `program`.
std::string compiled_source(const std::string& program);

/// Issues a compiled kernel. Returns false if the device has no compiler. Fails with Internal, and what the compiler says, if the
/// source has a mistake.
Result<bool> run_compiled(DeviceContext& device, const std::string& source, const FourArguments& arguments);

}  // namespace troupe::gpu
