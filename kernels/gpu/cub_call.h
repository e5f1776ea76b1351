// Calls of algorithms of CUB, which say first how much memory they need. Any thread may call these functions.
#pragma once

#include <string>

#include "kernels/gpu/launch.h"

namespace troupe::gpu {

#if defined(__CUDACC__)
/// Calls an algorithm twice: with null memory it sets the number of bytes that it needs, with so much memory it issues its work.
/// `name` is what it does, for its failure.
template <class Algorithm>
Status call_cub(DeviceContext& device, const char* name, const Algorithm& algorithm) {
  const auto status_of = [&](cudaError_t result) {
    return result == cudaSuccess ? Status() : internal(std::string(name) + ": " + cudaGetErrorString(result));
  };
  size_t bytes = 0;
  TROUPE_RETURN_IF_FAILED(status_of(algorithm(nullptr, bytes)));
  TROUPE_ASSIGN(const BufferRef memory, scratch(device, bytes));
  return status_of(algorithm(memory->data, bytes));
}
#endif

}  // namespace troupe::gpu
