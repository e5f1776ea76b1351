#include "devices/cuda/cuda_status.h"

#include <string>

namespace troupe {
namespace {

/// Returns whether no work can run on the GPU in this process after the error.
bool is_lost(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

}  // namespace

Status cuda_status(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  const std::string text = std::string(what) + " failed: " + cudaGetErrorString(error);
  if (is_lost(error))
    return unavailable(text +
                       "; the GPU is lost for this process. A kernel issued before may be the cause: "
                       "TROUPE_WAIT_FOR_KERNELS=1 waits for each kernel and names its op");
  switch (error) {
    case cudaErrorMemoryAllocation: return resource_exhausted(text);
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch: return unavailable(text);
    default: return internal(text);
  }
}

}  // namespace troupe
